# Prints the code of Swift files, one line each as `file<TAB>line<TAB>code`, with comments removed and the text of
# string and regular-expression literals blanked. Code inside interpolations stays.
#
# What is open is a stack: code (with the number of open parentheses), a string (with its number of # and whether
# it has three quotes), or a comment (with its depth).

function push(newMode, newHashes, newTriple) {
    top++
    mode[top] = newMode
    hashes[top] = newHashes
    triple[top] = newTriple
    depth[top] = 0
}

# The number of characters `#` from `at` on.
function hashesAt(text, at,   count) {
    count = 0
    while (substr(text, at + count, 1) == "#") count++
    return count
}

# The length of a regular-expression literal `/…/` at the start of `text`, 0 when it is something else.
function regexLength(text,   at, character, inClass) {
    if (text !~ /^\/[^ \t\/*)]/) return 0
    for (at = 2; at <= length(text); at++) {
        character = substr(text, at, 1)
        if (character == "\\") at++
        else if (character == "[") inClass = 1
        else if (character == "]") inClass = 0
        else if (character == "/" && !inClass) return at
    }
    return 0
}

function code(text,   out, at, rest, character, count, quote, close_, before, size) {
    out = ""
    at = 1
    while (at <= length(text)) {
        rest = substr(text, at)
        if (mode[top] == "comment") {
            if (!match(rest, /\/\*|\*\//)) return out
            at += RSTART + 1
            if (substr(rest, RSTART, 2) == "/*") depth[top]++
            else if (--depth[top] == 0) { top--; out = out " " }
        } else if (mode[top] == "string") {
            if (!match(rest, /["\\]/)) return out
            at += RSTART - 1
            if (substr(text, at, 1) == "\\") {
                count = hashesAt(text, at + 1)
                if (count < hashes[top]) at++
                else if (substr(text, at + 1 + hashes[top], 1) == "(") {
                    at += hashes[top] + 2
                    push("code", 0, 0)
                    depth[top] = 1
                    out = out "("
                } else at += hashes[top] + 2
            } else {
                size = triple[top] ? 3 : 1
                quote = triple[top] ? "\"\"\"" : "\""
                if (substr(text, at, size) == quote && hashesAt(text, at + size) >= hashes[top]) {
                    at += size + hashes[top]
                    top--
                    out = out "\""
                } else at++
            }
        } else {
            if (!match(rest, /["#\/()]/)) return out rest
            before = substr(rest, 1, RSTART - 1)
            out = out before
            at += RSTART - 1
            character = substr(text, at, 1)
            if (character == "(") { depth[top]++; out = out "("; at++ }
            else if (character == ")") {
                out = out ")"
                at++
                if (--depth[top] == 0 && top > 1) top--
            } else if (character == "/") {
                if (substr(text, at, 2) == "//") return out
                if (substr(text, at, 2) == "/*") { push("comment", 0, 0); depth[top] = 1; at += 2; continue }
                close_ = 0
                if (out ~ /(^|[(,=:\[{]|[^A-Za-z0-9_]return|[^A-Za-z0-9_]in)[ \t]*$/)
                    close_ = regexLength(substr(text, at))
                if (close_ > 0) { out = out "/ /"; at += close_ }
                else { out = out "/"; at++ }
            } else {
                count = hashesAt(text, at)
                if (substr(text, at + count, 1) == "\"") {
                    close_ = substr(text, at + count, 3) == "\"\"\""
                    # Three quotes open a long string, except where they are an empty one and its neighbour.
                    push("string", count, close_)
                    out = out "\""
                    at += count + (close_ ? 3 : 1)
                } else if (count > 0 && substr(text, at + count, 1) == "/") {
                    quote = "/" substr(text, at, count)
                    size = index(substr(text, at + count + 1), quote)
                    if (size > 0) { out = out "/ /"; at += count + size + length(quote) }
                    else { out = out "#/"; at += count + 1 }
                } else { out = out substr(text, at, count); at += count }
            }
        }
    }
    return out
}

FNR == 1 { top = 0; push("code", 0, 0) }
{
    sub(/\r$/, "")
    printf "%s\t%d\t%s\n", FILENAME, FNR, code($0)
    # A string on one line ends with its line, whatever was missed in it.
    while (mode[top] == "string" && !triple[top]) top--
}
