# SPDX-License-Identifier: MIT
# inline.awk -- print a page with other files in it: a line that is only `/* inline FILE */` or
# `<!-- inline FILE -->` is replaced by the file, whose name is relative to the root of the tree.
/^(\/\*|<!--) inline [^ ]+ (\*\/|-->)$/ {
    file = $3
    while ((got = (getline line < file)) > 0)
        print line
    if (got < 0) {
        print FILENAME ": cannot read " file >"/dev/stderr"
        failed = 1
        exit 1
    }
    close(file)
    next
}
{ print }
END { exit failed }
