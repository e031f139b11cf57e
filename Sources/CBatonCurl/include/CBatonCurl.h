#ifndef CBATONCURL_H
#define CBATONCURL_H
#endif
