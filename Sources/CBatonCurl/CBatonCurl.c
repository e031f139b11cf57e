#include "CBatonCurl.h"
