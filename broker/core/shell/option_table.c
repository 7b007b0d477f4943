/* SPDX-License-Identifier: MIT */
/* What is known of commands' options: a new one is a line here, in the order of its name. */
#include "broker/core/shell/option.h"

#define GREP_LONGS                                                                             \
	"regexp=:e! file=:f ignore-case:i no-ignore-case invert-match:v word-regexp:w "        \
	"line-regexp:x count:c color?! colour?! files-without-match:L files-with-matches:l "   \
	"max-count=:m! only-matching:o quiet:q silent:q no-messages:s byte-offset:b "          \
	"with-filename:H no-filename:h label=! line-number:n initial-tab:T null:Z "            \
	"after-context=:A! before-context=:B! context=:C! text:a binary-files=! devices=:D! "  \
	"directories=:d! exclude=! exclude-from= exclude-dir=! include=! recursive:r "         \
	"dereference-recursive:R line-buffered binary:U null-data:z extended-regexp:E "        \
	"fixed-strings:F basic-regexp:G perl-regexp:P no-ignore-case unix-byte-offsets:u "

#define FD_LONGS                                                                               \
	"hidden:H no-ignore:I case-sensitive:s ignore-case:i glob:g regex "                    \
	"absolute-path:a list-details:l follow:L full-path:p max-depth=:d! type=:t! "          \
	"extension=:e! exclude=:E! exec:x exec-batch:X base-directory= search-path= "          \
	"min-depth=! exact-depth=! size=:S! owner=:o! color=:c! threads=:j! batch-size=! "     \
	"changed-within=! changed-before=! max-results=! format=! ignore-file= "               \
	"path-separator=! prune unrestricted:u print0:0 "

#define SHA_LONGS                                                                              \
	"binary:b check:c tag text:t zero:z ignore-missing quiet status strict warn:w "

#define GIT_DIFF "U?M?C?B?X?GSOlI"

#define GIT_DIFF_TEXT "UMCBXGSlI"

#define GIT_DIFF_LONGS                                                                         \
	"patch:p no-patch:s stat?! name-only name-status unified?:U! color?! no-color "        \
	"word-diff?! color-words?! word-diff-regex=! ignore-all-space:w "                      \
	"ignore-space-change:b ignore-blank-lines ignore-space-at-eol output= "                \
	"output-indicator-new=! diff-filter=! numstat shortstat dirstat?! summary raw "        \
	"minimal check exit-code quiet relative?! find-renames?:M! find-copies?:C! "           \
	"break-rewrites?:B! abbrev?! full-index binary no-renames ext-diff no-ext-diff "       \
	"textconv no-textconv histogram patience diff-algorithm=! anchored=! "                 \
	"function-context:W pickaxe-regex pickaxe-all inter-hunk-context=! src-prefix=! "      \
	"dst-prefix=! line-prefix=! no-prefix submodule?! ignore-matching-lines=:I! "          \
	"ws-error-highlight=! color-moved?! "

#define GIT_LOG_LONGS                                                                          \
	GIT_DIFF_LONGS "oneline max-count=:n! author=! committer=! grep=! since=! until=! "    \
		       "after=! before=! format=! pretty?! graph all follow date=! "           \
		       "decorate?! decorate-refs=! decorate-refs-exclude=! reverse merges "    \
		       "no-merges skip=! notes?! show-signature stdin source branches?! "      \
		       "tags?! remotes?! glob=! exclude=! "

/* In the order of their names. */
const struct option_table option_tables[] = {
	{"awk", "Fvf", "Fv", "field-separator=:F! assign=:v! file=:f ",
		OPTION_TEXT_FIRST | OPTION_ORDERED, "f "},
	{"base64", "w", "w", "decode:d ignore-garbage:i wrap=:w! ", 0, ""},
	{"basename", "s", "s", "multiple:a suffix=:s! zero:z ", 0, ""},
	{"cargo", "", "", "manifest-path= color?! config=! ", OPTION_SUBCOMMANDS, ""},
	{"cat", "", "",
		"show-all:A number-nonblank:b show-ends:E number:n squeeze-blank:s "
		"show-tabs:T show-nonprinting:v ",
		0, ""},
	{"cc", "oILlDUx", "lDUx", "", OPTION_NO_CLUSTER, ""},
	{"chgrp", "", "",
		"changes:c silent:f quiet:f verbose:v no-dereference:h recursive:R "
		"reference= preserve-root no-preserve-root ",
		OPTION_TEXT_FIRST, ""},
	{"chmod", "", "",
		"changes:c silent:f quiet:f verbose:v recursive:R reference= "
		"preserve-root no-preserve-root ",
		OPTION_TEXT_FIRST, ""},
	{"chown", "", "",
		"changes:c silent:f quiet:f verbose:v no-dereference:h recursive:R "
		"from=! reference= preserve-root no-preserve-root ",
		OPTION_TEXT_FIRST, ""},
	{"cksum", "al", "al", "algorithm=:a! length=:l! check:c untagged tag ", 0, ""},
	{"clang", "oILlDUx", "lDUx", "", OPTION_NO_CLUSTER, ""},
	{"cmp", "in", "in",
		"ignore-initial=:i! bytes=:n! print-bytes:b verbose:l quiet:s silent:s ", 0,
		""},
	{"column", "cosnNHRTWEOipr", "cosnNHRTWEOipr",
		"table:t separator=:s! output-separator=:o! output-width=:c! table-columns=:N! "
		"json:J fillrows:x ",
		0, ""},
	{"comm", "", "", "output-delimiter=! check-order nocheck-order total ", 0, ""},
	{"cp", "St", "S",
		"archive:a backup?! force:f interactive:i link:l no-clobber:n "
		"no-dereference:P dereference:L parents recursive:r symbolic-link:s "
		"suffix=:S! target-directory=:t no-target-directory:T update:u "
		"verbose:v preserve?! no-preserve=! reflink?! ",
		0, ""},
	{"curl", "oXHdFuAebcDKTmUxyYzCrPwQtE", "XHdFuAemUxyYzCrPwQt",
		"output=:o request=:X! header=:H! data=:d! data-raw=! data-binary=! "
		"data-urlencode=! form=:F! user=:u! user-agent=:A! referer=:e! cookie=:b "
		"cookie-jar=:c dump-header=:D config=:K upload-file=:T max-time=:m! "
		"proxy=:x! range=:r! write-out=:w! remote-name:O remote-header-name:J "
		"location:L silent:s show-error:S fail:f insecure:k head:I include:i "
		"verbose:v compressed get:G cert=:E key= cacert= retry=! connect-timeout=! "
		"output-dir= trace= trace-ascii= stderr= url= json=! libcurl= hsts= alt-svc= "
		"netrc-file= variable=! form-string=! proxy-header=! etag-save= etag-compare= ",
		0, ""},
	{"cut", "bcdf", "bcdf",
		"bytes=:b! characters=:c! delimiter=:d! fields=:f! "
		"complement only-delimited:s output-delimiter=! zero-terminated:z ",
		0, ""},
	{"date", "dfrsI?", "dsI",
		"date=:d! file=:f iso-8601?:I! reference=:r rfc-3339=! set=:s! utc:u "
		"universal:u "
		"rfc-email:R debug resolution ",
		OPTION_TEXT_ALL, ""},
	{"df", "Btx", "Btx",
		"all:a block-size=:B! human-readable:h si:H inodes:i local:l output?! "
		"portability:P "
		"total type=:t! print-type:T exclude-type=:x! sync no-sync ",
		0, ""},
	{"diff", "CUIxXSFDWL", "CUIxFDWL",
		"brief:q recursive:r unified?:U! context?:C! ignore-case:i ignore-all-space:w "
		"ignore-space-change:b ignore-blank-lines:B new-file:N text:a side-by-side:y "
		"exclude=:x! exclude-from=:X from-file= to-file= label=:L! color?! width=:W! "
		"report-identical-files:s starting-file=:S show-function-line=:F! ifdef=:D! "
		"ignore-matching-lines=:I! tabsize=! horizon-lines=! palette=! line-format=! "
		"old-line-format=! new-line-format=! unchanged-line-format=! "
		"old-group-format=! new-group-format=! changed-group-format=! "
		"unchanged-group-format=! normal show-c-function:p ed:e rcs:n left-column "
		"suppress-common-lines expand-tabs:t initial-tab:T strip-trailing-cr "
		"suppress-blank-empty paginate:l unidirectional-new-file no-dereference "
		"ignore-file-name-case no-ignore-file-name-case ignore-tab-expansion:E "
		"ignore-trailing-space:Z minimal:d speed-large-files ",
		0, ""},
	{"docker", "cHl", "cHl", "config= context=:c! host=:H! log-level=:l! debug:D ",
		OPTION_SUBCOMMANDS, ""},
	{"du", "BdtX", "Bdt",
		"all:a block-size=:B! bytes:b total:c dereference:L max-depth=:d! "
		"human-readable:h summarize:s separate-dirs:S exclude=! "
		"exclude-from=:X threshold=:t! one-file-system:x apparent-size files0-from= "
		"dereference-args:D count-links:l null:0 si inodes time?! time-style=! "
		"no-dereference:P ",
		0, ""},
	{"echo", "", "", "", OPTION_TEXT_ALL, ""},
	{"egrep", "efmABCDdX", "emABCDdX", GREP_LONGS, OPTION_TEXT_FIRST, "e f "},
	{"expand", "t", "t", "initial:i tabs=:t! ", 0, ""},
	{"expr", "", "", "", OPTION_TEXT_ALL, ""},
	{"fd", "deEtcjSo", "deEtcjSo", FD_LONGS, OPTION_TEXT_FIRST, ""},
	{"fdfind", "deEtcjSo", "deEtcjSo", FD_LONGS, OPTION_TEXT_FIRST, ""},
	{"fgrep", "efmABCDdX", "emABCDdX", GREP_LONGS, OPTION_TEXT_FIRST, "e f "},
	{"file", "FfmPe", "FPe",
		"brief:b checking-printout:c exclude=:e! exclude-quiet=! files-from=:f "
		"separator=:F! "
		"mime:i keep-going:k list:l dereference:L magic-file=:m no-buffer:n no-pad:N "
		"print0:0 preserve-date:p parameter=:P! raw:r special-files:s no-sandbox:S "
		"version:v compile:C uncompress:z uncompress-noreport:Z no-dereference:h ",
		0, ""},
	{"find", "", "",
		"name= iname= path= ipath= wholename= iwholename= lname= ilname= regex=! "
		"iregex=! "
		"type=! xtype=! size=! mtime=! mmin=! atime=! amin=! ctime=! cmin=! newer= "
		"anewer= "
		"cnewer= maxdepth=! mindepth=! perm=! user=! group=! uid=! gid=! links=! "
		"inum=! "
		"samefile= fstype=! regextype=! printf=! fprint= fprint0= fls= ",
		OPTION_SINGLE, ""},
	{"fmt", "wgp", "wgp",
		"width=:w! goal=:g! prefix=:p! crown-margin:c split-only:s tagged-paragraph:t "
		"uniform-spacing:u ",
		0, ""},
	{"fold", "w", "w", "bytes:b spaces:s width=:w! ", 0, ""},
	{"free", "cs", "cs", "count=:c! seconds=:s! human:h wide:w total:t si ", 0, ""},
	{"g++", "oILlDUx", "lDUx", "", OPTION_NO_CLUSTER, ""},
	{"gawk", "FvfeEilp?d?o?D?L?W", "FveL",
		"field-separator=:F! assign=:v! file=:f source=:e! exec=:E include=:i load=:l ",
		OPTION_TEXT_FIRST | OPTION_ORDERED, "f e E "},
	{"gcc", "oILlDUx", "lDUx", "", OPTION_NO_CLUSTER, ""},
	{"git", "Cc", "c",
		"git-dir= work-tree= namespace=! exec-path= config-env=! no-pager:P paginate:p "
		"bare "
		"no-replace-objects literal-pathspecs no-optional-locks ",
		OPTION_SUBCOMMANDS, ""},
	{"git add", "", "",
		"all:A dry-run:n verbose:v force:f interactive:i patch:p edit:e update:u "
		"intent-to-add:N "
		"refresh ignore-errors chmod=! pathspec-from-file= ",
		0, ""},
	{"git blame", "LSM?C?", "LMC",
		"contents= date=! ignore-rev=! ignore-revs-file= since=! ", 0, ""},
	{"git branch", "u", "u",
		"delete:d force:f move:m copy:c all:a remotes:r list:l verbose:v quiet:q "
		"set-upstream-to=:u! unset-upstream show-current contains=! no-contains=! "
		"merged=! "
		"no-merged=! sort=! format=! points-at=! track?! color?! column?! abbrev?! "
		"ignore-case:i edit-description ",
		0, ""},
	{"git checkout", "bB", "bB",
		"force:f quiet:q ours theirs track?:t! orphan=! detach:d merge:m conflict=! "
		"patch:p ",
		0, ""},
	{"git clean", "e", "e", "force:f interactive:i dry-run:n quiet:q exclude=:e! ", 0, ""},
	{"git commit", "mFCct", "mCc",
		"message=:m! file=:F all:a amend no-verify:n no-edit signoff:s "
		"reuse-message=:C! "
		"reedit-message=:c! fixup=! squash=! author=! date=! template=:t allow-empty "
		"allow-empty-message quiet:q verbose:v patch:p include:i only:o cleanup=! "
		"trailer=! edit:e no-gpg-sign gpg-sign:S ",
		0, ""},
	{"git config", "f", "", "file=:f blob=! type=! default=! null:z list:l ", 0, ""},
	{"git describe", "", "", "match=! exclude=! candidates=! abbrev?! dirty?! broken?! ", 0,
		""},
	{"git diff", GIT_DIFF, GIT_DIFF_TEXT,
		GIT_DIFF_LONGS "cached staged no-index merge-base ", 0, ""},
	{"git diff-tree", GIT_DIFF, GIT_DIFF_TEXT, GIT_DIFF_LONGS, 0, ""},
	{"git fetch", "j", "j",
		"all append:a depth=! prune:p tags:t no-tags:n force:f dry-run verbose:v "
		"quiet:q "
		"jobs?:j! upload-pack=! unshallow recurse-submodules=! ",
		0, ""},
	{"git for-each-ref", "", "",
		"count=! sort=! format=! points-at=! merged=! no-merged=! contains=! "
		"no-contains=! "
		"exclude=! color?! ",
		0, ""},
	{"git grep", "efmABCO?", "emABC",
		"ignore-case:i word-regexp:w line-number:n invert-match:v text:a "
		"files-with-matches:l count:c extended-regexp:E fixed-strings:F perl-regexp:P "
		"untracked cached open-files-in-pager?:O! max-count=:m! max-depth=! threads=! "
		"after-context=:A! before-context=:B! context=:C! color?! show-function:p "
		"function-context:W ",
		OPTION_TEXT_FIRST, "e f "},
	{"git log", GIT_DIFF "nL", GIT_DIFF_TEXT "nL", GIT_LOG_LONGS, 0, ""},
	{"git ls-files", "xX", "x",
		"exclude=:x! exclude-from=:X exclude-per-directory=! with-tree=! abbrev?! ", 0,
		""},
	{"git ls-tree", "", "", "format=! abbrev?! long:l ", 0, ""},
	{"git merge", "msX", "msX",
		"message=:m! file=:F strategy=:s! strategy-option=:X! ff no-ff ff-only squash "
		"abort "
		"continue quit no-commit no-verify quiet:q ",
		0, ""},
	{"git name-rev", "", "", "refs=! exclude=! ", 0, ""},
	{"git pull", "sX", "sX", "rebase?! force:f all append:a ff-only no-ff prune:p tags:t ",
		0, ""},
	{"git push", "o", "o",
		"force:f force-with-lease?! all mirror tags delete:d dry-run:n set-upstream:u "
		"quiet:q "
		"verbose:v no-verify prune follow-tags atomic push-option=:o! receive-pack=! "
		"exec=! "
		"repo=! porcelain signed?! ",
		0, ""},
	{"git rebase", "xsX", "xsX",
		"interactive:i onto=! exec=:x! continue abort skip quit autosquash autostash "
		"force:f "
		"strategy=:s! strategy-option=:X! root keep-base edit-todo ",
		0, ""},
	{"git reflog", GIT_DIFF "nL", GIT_DIFF_TEXT "nL", GIT_LOG_LONGS, 0, ""},
	{"git reset", "", "",
		"hard soft mixed merge keep quiet:q patch:p pathspec-from-file= ", 0, ""},
	{"git restore", "s", "s", "source=:s! staged:S worktree:W patch:p quiet:q ours theirs ",
		0, ""},
	{"git rev-list", GIT_DIFF "nL", GIT_DIFF_TEXT "nL", GIT_LOG_LONGS, 0, ""},
	{"git rm", "", "",
		"force:f cached dry-run:n quiet:q ignore-unmatch pathspec-from-file= ", 0, ""},
	{"git shortlog", "w?", "w", "group=! format=! numbered:n summary:s email:e ", 0, ""},
	{"git show", GIT_DIFF "nL", GIT_DIFF_TEXT "nL", GIT_LOG_LONGS, 0, ""},
	{"git stash", "m", "m", "message=:m! all:a include-untracked:u keep-index:k patch:p ",
		0, ""},
	{"git status", "u?", "u",
		"untracked-files?:u! porcelain?! ignored?! ignore-submodules?! column?! "
		"find-renames?! short:s branch:b verbose:v long ",
		0, ""},
	{"git switch", "cC", "cC",
		"create=:c! force-create=:C! detach:d force:f discard-changes:f merge:m "
		"orphan=! "
		"quiet:q track?:t! ",
		0, ""},
	{"git tag", "mFun?", "mun",
		"annotate:a sign:s force:f delete:d list:l message=:m! file=:F sort=! "
		"contains=! no-contains=! merged=! no-merged=! "
		"points-at=! format=! verify:v color?! column?! ignore-case:i ",
		0, ""},
	{"git whatchanged", GIT_DIFF "nL", GIT_DIFF_TEXT "nL", GIT_LOG_LONGS, 0, ""},
	{"git worktree", "bB", "bB", "force:f detach:d checkout lock quiet:q ", 0, ""},
	{"go", "C", "", "", OPTION_SUBCOMMANDS | OPTION_SINGLE, ""},
	{"grep", "efmABCDdX", "emABCDdX", GREP_LONGS, OPTION_TEXT_FIRST, "e f "},
	{"gunzip", "S", "S", "decompress:d stdout:c to-stdout:c force:f keep:k recursive:r ", 0,
		""},
	{"gzip", "S", "S",
		"decompress:d uncompress:d stdout:c to-stdout:c force:f keep:k "
		"recursive:r test:t list:l ",
		0, ""},
	{"head", "cn", "cn",
		"bytes=:c! lines=:n! quiet:q silent:q verbose:v zero-terminated:z ", 0, ""},
	{"hexdump", "efnsL?", "ensL",
		"canonical:C no-squeezing:v length=:n! skip=:s! format=:e! format-file=:f "
		"color?:L! ",
		0, ""},
	{"hostname", "F", "", "file=:F short:s all-ip-addresses:I ", 0, ""},
	{"java", "", "", "cp= classpath= jar= ", OPTION_SINGLE, ""},
	{"jq", "fL", "",
		"from-file=:f raw-output:r compact-output:c exit-status:e slurp:s "
		"null-input:n sort-keys:S raw-input:R join-output:j color-output:C "
		"ascii-output:a "
		"monochrome-output:M indent=! tab stream seq unbuffered args jsonargs "
		"arg==! argjson==! slurpfile== rawfile== argfile== ",
		OPTION_TEXT_FIRST, "f "},
	{"kill", "sn", "sn", "signal=:s! list?:l! ", OPTION_TEXT_ALL, ""},
	{"kubectl", "nfo", "no", "namespace=:n! filename=:f output=:o! context=! kubeconfig= ",
		OPTION_SUBCOMMANDS, ""},
	{"ln", "St", "S",
		"symbolic:s force:f interactive:i no-dereference:n relative:r "
		"target-directory=:t no-target-directory:T verbose:v backup?! suffix=:S! ",
		0, ""},
	{"ls", "ITw", "ITw",
		"all:a almost-all:A author escape:b block-size=! directory:d "
		"classify?:F! human-readable:h inode:i ignore=:I! dereference:L "
		"numeric-uid-gid:n recursive:R reverse:r size:s sort=! time=! "
		"time-style=! tabsize=:T! width=:w! color?! format=! full-time "
		"group-directories-first no-group:G hide=! zero si indicator-style=! "
		"quoting-style=! hyperlink?! dired:D file-type context:Z literal:N "
		"quote-name:Q "
		"kibibytes:k dereference-command-line:H ignore-backups:B "
		"dereference-command-line-symlink-to-dir hide-control-chars:q "
		"show-control-chars ",
		0, ""},
	{"lscpu", "e?p?s", "ep",
		"all:a online:b offline:c json:J sysroot=:s extended?:e! parse?:p! ", 0, ""},
	{"make", "CfIoWE", "E",
		"directory=:C file=:f makefile=:f include-dir=:I jobs?:j! "
		"keep-going:k dry-run:n just-print:n always-make:B silent:s "
		"quiet:s question:q old-file=:o what-if=:W eval=:E! ",
		0, ""},
	{"mawk", "Fvf", "Fv", "field-separator=:F! assign=:v! file=:f ",
		OPTION_TEXT_FIRST | OPTION_ORDERED, "f "},
	{"md5sum", "", "", SHA_LONGS, 0, ""},
	{"mkdir", "mZ", "mZ", "mode=:m! parents:p verbose:v context?:Z! ", 0, ""},
	{"mv", "St", "S",
		"backup?! force:f interactive:i no-clobber:n suffix=:S! "
		"target-directory=:t no-target-directory:T update:u verbose:v "
		"strip-trailing-slashes ",
		0, ""},
	{"nawk", "Fvf", "Fv", "field-separator=:F! assign=:v! file=:f ",
		OPTION_TEXT_FIRST | OPTION_ORDERED, "f "},
	{"nl", "bdfhilnsvw", "bdfhilnsvw",
		"body-numbering=:b! section-delimiter=:d! footer-numbering=:f! "
		"header-numbering=:h! "
		"line-increment=:i! join-blank-lines=:l! number-format=:n! no-renumber:p "
		"number-separator=:s! starting-line-number=:v! number-width=:w! ",
		0, ""},
	{"node", "epr", "ep",
		"eval=:e! print=:p! require=:r check:c interactive:i version:v "
		"inspect?! import=! loader= env-file= ",
		0, ""},
	{"npm", "wC", "w", "prefix=:C workspace=:w! global:g silent:s ", OPTION_SUBCOMMANDS,
		""},
	{"nproc", "", "", "all ignore=! ", 0, ""},
	{"od", "AjNtSw?", "AjNtSw",
		"address-radix=:A! skip-bytes=:j! read-bytes=:N! strings?:S! format=:t! "
		"width?:w! "
		"endian=! output-duplicates:v traditional ",
		0, ""},
	{"openssl", "", "",
		"in= out= engine=! pass=! key= cert= ", OPTION_SUBCOMMANDS | OPTION_SINGLE, ""},
	{"paste", "d", "d", "delimiters=:d! serial:s zero-terminated:z ", 0, ""},
	{"perl", "eEIMm", "eEMm", "", 0, ""},
	{"pgrep", "dFgGOPrstuU", "dgGOPrstuU",
		"delimiter=:d! pidfile=:F pgroup=:g! group=:G! parent=:P! runstates=:r! "
		"session=:s! "
		"terminal=:t! euid=:u! uid=:U! older=:O! list-name:l list-full:a full:f "
		"exact:x "
		"count:c newest:n oldest:o ignore-case:i inverse:v ns=! nslist=! cgroup=! ",
		0, ""},
	{"pip", "rcteif", "if",
		"requirement=:r constraint=:c target=:t editable=:e index-url=:i! "
		"user upgrade:U quiet:q ",
		OPTION_SUBCOMMANDS, ""},
	{"printf", "v", "v", "", OPTION_TEXT_ALL | OPTION_ORDERED, ""},
	{"pushd", "", "", "", 0, ""},
	{"python", "cmWX", "cmWX", "version:V help:h ", 0, ""},
	{"python3", "cmWX", "cmWX", "version:V help:h ", 0, ""},
	{"readlink", "", "",
		"canonicalize:f canonicalize-existing:e canonicalize-missing:m no-newline:n "
		"quiet:q "
		"silent:s verbose:v zero:z ",
		0, ""},
	{"realpath", "", "",
		"canonicalize-existing:e canonicalize-missing:m logical:L physical:P quiet:q "
		"relative-to= relative-base= strip:s no-symlinks:s zero:z ",
		0, ""},
	{"rg", "efgtTmABCjrMEd", "egtTmABCjrMEd",
		"regexp=:e! file=:f glob=:g! iglob=! type=:t! type-not=:T! max-count=:m! "
		"after-context=:A! before-context=:B! context=:C! threads=:j! replace=:r! "
		"max-columns=:M! encoding=:E! max-depth=:d! ignore-case:i smart-case:S "
		"case-sensitive:s word-regexp:w line-number:n no-line-number:N "
		"files-with-matches:l files-without-match count:c only-matching:o hidden "
		"no-ignore unrestricted:u invert-match:v fixed-strings:F multiline:U pcre2:P "
		"text:a files color=! colors=! heading no-heading sort=! sortr=! pre= "
		"pre-glob=! "
		"ignore-file= json quiet:q vimgrep with-filename:H no-filename:I null:0 "
		"follow:L max-filesize=! context-separator=! dfa-size-limit=! engine=! "
		"field-context-separator=! field-match-separator=! path-separator=! "
		"regex-size-limit=! type-add=! type-clear=! hostname-bin= generate=! "
		"hyperlink-format=! type-list search-zip:z pretty:p byte-offset:b "
		"line-regexp:x null-data max-columns-preview passthru ",
		OPTION_TEXT_FIRST, "e f files type-list "},
	{"rm", "", "",
		"force:f interactive?! one-file-system no-preserve-root preserve-root?! "
		"recursive:r dir:d verbose:v ",
		0, ""},
	{"rmdir", "", "", "parents:p verbose:v ignore-fail-on-non-empty ", 0, ""},
	{"rsync", "efTBMf", "eBMf",
		"archive:a verbose:v recursive:r delete dry-run:n compress:z "
		"rsh=:e! exclude=! include=! exclude-from= include-from= "
		"files-from= links:l perms:p times:t progress partial:P "
		"rsync-path=! filter=:f! ",
		0, ""},
	{"scp", "cFiJloPSD", "cJloPS", "", 0, ""},
	{"sed", "efli?", "eli",
		"expression=:e! file=:f quiet:n silent:n in-place?:i! regexp-extended:E "
		"separate:s null-data:z unbuffered:u line-length=:l! posix debug "
		"sandbox follow-symlinks binary:b ",
		OPTION_TEXT_FIRST, "e f "},
	{"seq", "fs", "fs", "format=:f! separator=:s! equal-width:w ", OPTION_TEXT_ALL, ""},
	{"sha1sum", "", "", SHA_LONGS, 0, ""},
	{"sha256sum", "", "", SHA_LONGS, 0, ""},
	{"sha512sum", "", "", SHA_LONGS, 0, ""},
	{"sleep", "", "", "", OPTION_TEXT_ALL, ""},
	{"sort", "kotST", "ktS",
		"key=:k! output=:o field-separator=:t! buffer-size=:S! "
		"temporary-directory=:T reverse:r numeric-sort:n unique:u "
		"check:c human-numeric-sort:h version-sort:V ignore-case:f stable:s "
		"compress-program=! files0-from= parallel=! general-numeric-sort:g "
		"month-sort:M random-sort:R dictionary-order:d zero-terminated:z "
		"ignore-leading-blanks:b merge:m batch-size=! debug random-source= sort=! ",
		0, ""},
	{"ssh", "bcDEeFIiJLlmOopQRSWw", "bcDeIJLlmOopQRSWw", "", 0, ""},
	{"stat", "c", "c", "format=:c! printf=! dereference:L file-system:f terse:t cached=! ",
		0, ""},
	{"strings", "netTsU", "netsU",
		"all:a data:d print-file-name:f bytes=:n! radix=:t! include-all-whitespace:w "
		"encoding=:e! output-separator=:s! unicode=:U! target=:T ",
		0, ""},
	{"tac", "s", "s", "before:b regex:r separator=:s! ", 0, ""},
	{"tail", "cns", "cns",
		"bytes=:c! lines=:n! follow?:f! pid=! quiet:q silent:q retry "
		"sleep-interval=:s! verbose:v zero-terminated:z max-unchanged-stats=! ",
		0, ""},
	{"tar", "fCTXbgHIKNFV", "bHIKNFV",
		"create:c extract:x get:x list:t append:r update:u file=:f directory=:C gzip:z "
		"bzip2:j xz:J zstd verbose:v exclude=! exclude-from=:X files-from=:T "
		"to-command=! use-compress-program=:I! checkpoint?! checkpoint-action=! "
		"strip-components=! transform=! to-stdout:O keep-old-files:k "
		"preserve-permissions:p rsh-command=! info-script=:F! new-volume-script=:F! "
		"one-top-level? remove-files ",
		0, ""},
	{"tee", "", "", "append:a ignore-interrupts:i output-error=! ", 0, ""},
	{"touch", "drt", "dt", "no-create:c date=:d! reference=:r time=! no-dereference:h ", 0,
		""},
	{"tr", "", "", "complement:c delete:d squeeze-repeats:s truncate-set1:t ",
		OPTION_TEXT_ALL, ""},
	{"tree", "LPIoHT", "LPIHT",
		"filelimit=! charset=! timefmt=! sort=! gitfile= infofile= ", 0, ""},
	{"uniq", "fsw", "fsw",
		"count:c repeated:d all-repeated?:D! group?! unique:u ignore-case:i "
		"skip-fields=:f! "
		"skip-chars=:s! check-chars=:w! zero-terminated:z ",
		0, ""},
	{"wc", "", "",
		"bytes:c chars:m lines:l words:w max-line-length:L files0-from= total=! ", 0,
		""},
	{"wget", "OPoaiUeBtTQAR", "UeBtTQAR",
		"output-document=:O directory-prefix=:P output-file=:o append-output=:a "
		"input-file=:i user-agent=:U! execute=:e! quiet:q continue:c recursive:r "
		"header=! post-data=! post-file= no-check-certificate use-askpass=! ",
		0, ""},
	{"which", "", "", "all:a silent:s ", 0, ""},
	{"yq", "", "", "inplace:i null-input:n output-format=:o! ", OPTION_TEXT_FIRST, ""},
};

const size_t option_tables_n = sizeof(option_tables) / sizeof(*option_tables);
