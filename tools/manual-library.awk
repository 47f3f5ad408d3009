# SPDX-License-Identifier: MIT
# manual-library.awk -- manual pages of section 3, and dlock(7), from a public header.
#
#   awk -v out=DIR -v version=0.1.0 -v header=dlock.h -v manual=dlock \
#       -v also=dlock_primitives -f tools/manual-library.awk lock/dlock.h
#
# The comment at the head of dlock.h becomes dlock(7), which names `also`.  Each headline of the form
#   /* ---- NAME: what it is ---- */
# begins a page dlock_NAME(3) (a headline may go on as a comment below it).  A comment
# belongs to the declarations that follow it without an empty line.  Every function has a
# page of its name that leads to its group's.

function literal(text) {
    gsub(/\\/, "\\e", text)
    gsub(/-/, "\\-", text)
    gsub(/'/, "\\(aq", text)
    gsub(/`/, "\\(ga", text)
    sub(/^\./, "\\\\\\&.", text)
    return text
}

# Leave the list or the example that a comment is in.
function flat() {
    if (in_example) print ".EE" >file
    if (in_list) print ".PP" >file
    in_example = in_list = 0
}

# A line of prose; what stands between backquotes is set apart.
function word_line(text,   words, n, i, line) {
    n = split(text, words, "`")
    line = ""
    for (i = 1; i <= n; i++)
        line = line (i == 1 ? "" : i % 2 == 0 && i < n ? "\\fI" : i % 2 == 1 ? "\\fR" : "`") literal(words[i])
    if (text != "") print line >file
}

# A line of a comment.  Two blanks and capitals are an answer, a capital word and two
# blanks at the margin an item; what stands further in goes on or is an example.
function comment_line(text,   label) {
    if (text == "") {
        if (in_example) print "" >file
        else { flat(); print ".PP" >file }
    } else if (match(text, /^  [A-Z][A-Z, ]*[A-Z]($| +| *\()/) || match(text, /^[A-Z][a-z+A-Z]+ ( +)/)) {
        if (in_example) flat()
        label = substr(text, 1, RLENGTH)
        text = substr(text, RLENGTH + 1)
        if (label ~ /\($/) { sub(/ *\($/, "", label); text = "(" text }
        gsub(/^ +| +$/, "", label)
        print ".TP" >file
        print ".B " literal(label) >file
        in_list = 1
        word_line(text)
    } else if (in_list && text ~ /^    /) {
        sub(/^ +/, "", text)
        word_line(text)
    } else if (text ~ /^    /) {
        if (!in_example) print ".PP\n.EX" >file
        in_example = 1
        print literal(text) >file
    } else {
        flat()
        sub(/^ +/, "", text)
        word_line(text)
    }
}

function print_comment(text,   lines, n, i) {
    n = split(text, lines, "\n")
    for (i = 1; i <= n; i++) comment_line(lines[i])
    flat()
}

function head(page, section, what) {
    file = out "/" page "." section
    print ".\\\" Made from lock/" header " by tools/manual.sh; edit that." >file
    print ".TH " page " " section " \"\" \"libdlock " version "\" \"libdlock\"" >file
    print ".SH NAME" >file
    print page " \\- " literal(what) >file
    in_example = in_list = 0
}

function close_page(   i, names) {
    if (page == "") return
    head(page, 3, what)
    print ".SH SYNOPSIS\n.nf\n.B #include <" header ">" >file
    for (i = 1; i <= function_count; i++) print ".PP\n.B " literal(prototypes[i]) >file
    print ".fi\n.PP\nCompile and link with \\fIpkg\\-config \\-\\-cflags \\-\\-libs dlock\\fR." >file
    print ".SH DESCRIPTION" >file
    print_comment(intro)
    for (i = 1; i <= part_count; i++) {
        print names_of[i] != "" ? ".SS " names_of[i] : ".PP" >file
        print_comment(comments[i])
        if (blocks[i] != "") print ".PP\n.EX\n" blocks[i] ".EE" >file
    }
    print ".SH SEE ALSO\n.BR " manual " (7)" >file
    close(file)
    pages[++page_count] = page
    for (i = 1; i <= function_count; i++)
        if (functions[i] != page) {
            file = out "/" functions[i] ".3"
            print ".so man3/" page ".3" >file
            close(file)
        }
}

function open_page(name, text) {
    close_page()
    page = "dlock_" name
    what = text
    intro = ""
    part_count = function_count = 0
}

# A run of declarations with the comment above it is over.
function end_part(   name, proto) {
    if (comment == "" && code == "") return
    if (page == "") { if (comment != "" && code == "") head_comment = head_comment comment; comment = code = ""; return }
    if (code == "") { intro = intro comment; comment = ""; return }
    part_count++
    comments[part_count] = comment
    blocks[part_count] = names_of[part_count] = ""
    if (is_functions) names_of[part_count] = names
    else blocks[part_count] = code
    comment = code = names = ""
    is_functions = 0
}

function add_function(text,   name) {
    gsub(/DLOCK_MUST_CHECK|static inline/, "", text)
    gsub(/[ \t]+/, " ", text)
    sub(/ ;/, ";", text)
    sub(/^ /, "", text)
    name = text
    sub(/ ?\(.*/, "", name)
    sub(/.*[ *]/, "", name)
    functions[++function_count] = name
    prototypes[function_count] = text
    names = names (names == "" ? "" : ", ") name "()"
    is_functions = 1
    code = code text "\n"
}

function comment_text(line) {
    sub(/^ ?\*\/$/, "", line)
    sub(/^\/\* ?/, "", line)
    sub(/ *\*\/$/, "", line)
    sub(/^ \* ?/, "", line)
    sub(/^ \*$/, "", line)
    return line
}

function headline(line,   name) {
    end_part()
    sub(/^\/\* ---- /, "", line)
    sub(/ ----( \*\/)?$/, "", line)
    name = line
    sub(/:.*/, "", name)
    sub(/^[^:]*: /, "", line)
    open_page(name, line)
}

# The first lines of a file are its licence and its name.
FNR == 1 { next }
FNR == 2 { title = comment_text($0); sub(/^[a-z_.]* -- /, "", title); in_head = 1; next }
in_head {
    if ($0 ~ /^ \*\//) in_head = 0
    else overview = overview comment_text($0) "\n"
    next
}
/^\/\* ---- / { headline($0); in_headline = $0 !~ /\*\/$/; next }
in_headline { intro = intro comment_text($0) "\n"; if ($0 ~ /\*\/$/) in_headline = 0; next }
in_body { if ($0 ~ /^}/) in_body = 0; next }
in_comment {
    comment = comment comment_text($0) "\n"
    if ($0 ~ /\*\/$/) in_comment = 0
    next
}
/^\/\*/ {
    if (code != "") end_part()
    comment = comment comment_text($0) "\n"
    in_comment = $0 !~ /\*\/$/
    next
}
/^$/ && !in_struct { if (!pending) end_part(); next }
/^#(pragma|ifdef|ifndef|endif|include|define DLOCK_MUST|define DLOCK_.*_H)|^extern "C"/ { next }
pending {
    proto = proto " " $0
    if ($0 ~ /;$/) { pending = 0; add_function(proto) }
    else if ($0 ~ /^{/) { pending = 0; sub(/ *{.*/, ";", proto); add_function(proto); in_body = 1 }
    next
}
in_struct {
    code = code literal($0) "\n"
    if ($0 ~ /^}/ || (in_struct == 2 && $0 !~ /\\$/)) in_struct = 0
    next
}
/^#define/ { code = code literal($0) "\n"; if ($0 ~ /\\$/) in_struct = 2; next }
/^(typedef|struct|enum)/ { code = code literal($0) "\n"; if ($0 ~ /{$/) in_struct = 1; next }
/^[a-zA-Z].*/ && page != "" {
    proto = $0
    if ($0 ~ /;$/) add_function(proto); else pending = 1
    next
}
END {
    end_part()
    close_page()
    head(manual, 7, title)
    print ".SH SYNOPSIS\n.B #include <" header ">" >file
    print ".SH DESCRIPTION" >file
    print_comment(overview)
    print ".SH SEE ALSO" >file
    for (i = 1; i <= page_count; i++)
        print ".BR " pages[i] " (3)" (i < page_count || also != "" ? "," : "") >file
    if (also != "") print ".BR " also " (7)" >file
}
