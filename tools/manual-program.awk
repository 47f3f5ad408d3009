# SPDX-License-Identifier: MIT
# manual-program.awk -- a manual page of section 1 from what a program's --help prints.
#
#   PROGRAM --help | awk -v page=seckilld -v version=0.1.0 -v what='...' -f manual-program.awk
#
# "Usage: " begins the synopsis.  A line at the margin after an empty one is a headline if
# what follows it is indented by two blanks and it ends without a full stop; an option is
# two blanks and "--", with its text behind three blanks, or behind six in the next lines;
# all else that is indented is set as it is.

function literal(text) {
    gsub(/\\/, "\\e", text)
    gsub(/-/, "\\-", text)
    gsub(/'/, "\\(aq", text)
    gsub(/`/, "\\(ga", text)
    sub(/^\./, "\\\\\\&.", text)
    return text
}
function leave() { if (in_example) print ".EE"; in_example = 0 }
function is_headline(i) {
    return line[i] ~ /^[A-Z][A-Za-z ]*:?$/ && line[i + 1] ~ /^  [^ ]/
}

{ line[NR] = $0 }

END {
    print ".\\\" Made from the program's --help by tools/manual.sh; edit that."
    print ".TH " page " 1 \"\" \"seckill " version "\" \"seckill\""
    print ".SH NAME\n" literal(page) " \\- " literal(what)
    print ".SH SYNOPSIS\n.nf"
    for (i = 1; i <= NR && line[i] != ""; i++) {
        sub(/^Usage: /, "", line[i])
        if (line[i] ~ /^ / || i == 1) print literal(line[i]); else break
    }
    print ".fi\n.SH DESCRIPTION"
    for (; i <= NR; i++) {
        text = line[i]
        if (text == "") {
            if (in_example && line[i + 1] ~ /^  /) print ""; else { leave(); print ".PP" }
        } else if (is_headline(i)) {
            leave()
            sub(/:$/, "", text)
            print ".SH \"" toupper(literal(text)) "\""
        } else if (text ~ /^  --/) {
            leave()
            sub(/^ +/, "", text)
            about = text
            if (!sub(/^.*[^ ]   +/, "", about)) about = ""
            else sub(/   +.*$/, "", text)
            print ".TP\n.B " literal(text)
            if (about != "") print literal(about)
            in_option = 1
        } else if (in_option && text ~ /^      /) {
            sub(/^ +/, "", text)
            if (text ~ /^\$[A-Z_]+/) print ".br\nEnvironment: " literal(substr(text, 2))
            else { if (text ~ /^(one of|all, or any of these with commas between them): /) print ".br"; print literal(text) }
        } else if (text ~ /^  /) {
            if (!in_example) print ".PP\n.EX"
            in_example = 1
            print literal(text)
        } else {
            leave()
            if (in_option) print ".PP"
            in_option = 0
            print literal(text)
        }
    }
    leave()
}
