/* SPDX-License-Identifier: MIT */
/*
 * What the files of the shell reader share. It is a descent through the grammar over
 * one source at a time, bounded by LIMIT_SHELL_DEPTH. Functions of type bool return
 * false when reading can't go on: the reason was noted, and the caller returns false.
 */
#ifndef CORE_SHELL_READER_H
#define CORE_SHELL_READER_H

#include "broker/core/shell/shell.h"
#include "libapproval/limits.h"

enum char_class {
	CHAR_END = 1,	  /* ends a word: blank, newline, | & ; ( ) < > */
	CHAR_QUOTE = 2,	  /* \ ' " $ ` */
	CHAR_GLOB = 4,	  /* * ? [ ] */
	CHAR_MARK = 8,	  /* { ~ */
	CHAR_ESCAPE = 16, /* of a meaning in a pattern: escaped there when quoted */
	CHAR_NAME = 32,	  /* of an identifier */
	CHAR_DIGIT = 64,
	CHAR_DOUBLE = 128, /* special between double quotes: \ " $ ` */
};
extern const uint8_t char_classes[256];

static inline unsigned char_class(char c)
{
	return char_classes[(unsigned char)c];
}

/* Text that is being read. Offsets are reported relative to the text handed in. */
struct source {
	const char *start, *p, *end;
	uint32_t offset; /* of start; of everything where fixed */
	bool fixed;	 /* start is not a part of the text handed in */
};

/* A word, redirection or assignment of the command being read, until that is complete. */
struct item {
	struct shell_word word;
	struct bytes name; /* of an assignment; each word of an array is one */
	struct here_doc *doc;
	uint8_t kind; /* enum item_kind */
	uint8_t op;   /* enum shell_redirect_op */
	bool input;
} __attribute__((aligned(16))); /* one after the other on the stack */
enum item_kind {
	ITEM_WORD,
	ITEM_REDIRECT,
	ITEM_ASSIGN,
};

struct here_doc {
	struct here_doc *next;
	struct shell_redirect *redirect; /* that takes the body */
	struct bytes delimiter;
	bool quoted, strip;
	bool sh;
	uint32_t runs; /* the shell that will read the body as commands, or SHELL_NONE */
};

/* Where commands run after what was read last. NULL: that is never reached. */
struct place {
	const struct shell_cwd *here;	  /* for the next command; never NULL */
	const struct shell_cwd *ok, *bad; /* after it succeeded, after it failed */
	uint32_t moves; /* changes of directory in this process of the shell */
};

struct reader {
	struct source in;
	const struct shell_context *context;
	struct shell *out;
	/* results, and a stack for what is incomplete */
	struct shell_command *commands;
	struct shell_nest *nests;
	char *results, *results_end;
	char *stack, *stack_end;
	bool full; /* something did not fit on the stack */
	/* state */
	struct place place;
	struct here_doc *docs, **docs_tail; /* whose bodies come after the next newline */
	uint32_t nest, depth, texts, loops;
	uint32_t substitutions; /* $( ) and the like that are open here */
	uint32_t from, from_end;
	uint32_t command_flags; /* enum shell_command_flag of what surrounds */
	uint32_t via;
	uint32_t owner;	 /* the command whose words are being read */
	bool sh;	 /* enum shell_dialect */
	bool known;	 /* HOME and the like have the context's values */
	bool touched;	 /* one of them may be assigned by this text */
	bool lost;	 /* a function changes the directory */
	bool arithmetic; /* a variable's value is evaluated as an expression */
	bool bait;	 /* a literal text that an evaluation would run */
	uint32_t brace_words, brace_bytes;
	uint32_t cds; /* changes of directory so far */
	uint32_t letters; /* of words that may be options of a letter each */
};

/* A word while it is read: its pattern form grows on the stack. */
struct word_state {
	char *start; /* on the stack */
	uint32_t flags;
	bool escaped;	/* the pattern form differs from the text */
	bool bracket;	/* an unquoted [ was seen */
	bool brace;	/* an unquoted { that may begin an expansion */
	bool continued; /* a newline was joined */
	bool literal;	/* a quoted $ or ` */
	bool document;	/* of a here-document: " is ordinary */
};

enum word_mode {
	WORD_VALUE = 1,	   /* of an assignment: `~` counts after a colon */
	WORD_NO_BRACE = 2, /* braces are ordinary */
	WORD_NO_SPLIT = 4, /* neither split nor matched against file names */
	WORD_FIRST = 8,	   /* reserved words and assignments are looked for here */
};

/* ---- reader.c ---- */
uint32_t offset_at(const struct reader *r, const char *p);
/* Notes why the text is unread, if that is not yet known; reading may go on. */
void unread_at(struct reader *r, const char *reason, uint32_t offset);
/* The same at the present place; always false. */
bool unread(struct reader *r, const char *reason);
/* Zeroed memory of the result; NULL, noted as unread, when the arena is full. */
void *result_alloc(struct reader *r, size_t n, size_t size);
char *result_text(struct reader *r, const char *text, size_t len);
/* Room on the stack, aligned; NULL, noted as unread. */
void *stack_alloc(struct reader *r, size_t size);
/* Appends to what lies on the top of the stack; sets full instead of failing. */
void stack_put(struct reader *r, char c);
void stack_run(struct reader *r, const char *p, size_t n);
bool enter(struct reader *r); /* one level deeper; leave only when it was true */
void leave(struct reader *r);
/* A new nest becomes the present one; *before takes the old. */
bool nest_enter(struct reader *r, enum shell_nest_kind kind, uint32_t owner, uint32_t *before);
/* A command with what the surroundings say of it; SHELL_NONE, noted, when full. */
uint32_t command_new(struct reader *r);

/* ---- lex.c ---- */
static inline bool at_end(const struct reader *r)
{
	return r->in.p == r->in.end;
}
static inline int peek(const struct reader *r)
{
	return at_end(r) ? -1 : (unsigned char)*r->in.p;
}
static inline int peek_at(const struct reader *r, size_t i)
{
	return (size_t)(r->in.end - r->in.p) > i ? (unsigned char)r->in.p[i] : -1;
}
void skip_joined(struct reader *r);   /* joined newlines alone */
void skip_blanks(struct reader *r);   /* and joined newlines, and a comment */
bool skip_newlines(struct reader *r); /* and blanks; takes the bodies of here-documents */
/* Whether a word begins here. */
bool word_follows(const struct reader *r);
/* Takes an operator of one or two characters if it stands here, joined newlines within. */
bool take(struct reader *r, const char *op);
/* Whether the reserved word stands here, on its own. */
bool at_word(const struct reader *r, const char *word);
bool take_word(struct reader *r, const char *word);
/* The length of the identifier at p. */
size_t name_length(const char *p, const char *end);

/* ---- word.c, quote.c, expand.c, brace.c ---- */
void word_begin(struct reader *r, struct word_state *w);
bool word_finish(struct reader *r, struct word_state *w, struct shell_word *out);
/* The word that begins here, which may be empty only where a value may. */
bool word_read(struct reader *r, unsigned mode, struct shell_word *out, bool *brace);
/* The word or words that begin here, as items on the stack; *n counts them. */
bool words_read(struct reader *r, unsigned mode, uint32_t *n);
/* Puts one or more bytes into a word. */
void put_plain(struct reader *r, struct word_state *w, const char *p, size_t n);
void put_quoted(struct reader *r, struct word_state *w, const char *p, size_t n);
void put_unknown(struct reader *r, struct word_state *w, bool quoted);
void put_parameter(struct reader *r, struct word_state *w, struct bytes name, bool quoted);
bool quote_single(struct reader *r, struct word_state *w);
bool quote_double(struct reader *r, struct word_state *w);
bool quote_ansi(struct reader *r, struct word_state *w);
/* What is special between double quotes, at one of these characters. */
bool quote_special(struct reader *r, struct word_state *w);
/* At a `$`; quoted: between double quotes. */
bool expand_dollar(struct reader *r, struct word_state *w, bool quoted);
bool expand_backquote(struct reader *r, struct word_state *w, bool quoted);
/* At the `(` of $( <( or >(. */
bool expand_commands(struct reader *r, enum shell_nest_kind kind);
/* After `((`; takes the `))`. separators: how many `;` it has to hold. */
bool expand_arithmetic(struct reader *r, unsigned separators);
bool parameter_read(struct reader *r, struct word_state *w, bool quoted);
/* The value of a parameter that the context knows, as it is here. */
bool parameter_known(const struct reader *r, struct bytes name, struct bytes *value);
/* Expands the braces of a word's source; items on the stack. */
bool brace_words(
	struct reader *r, const char *start, const char *end, unsigned mode, uint32_t *n);

/* ---- here_doc.c, redirect.c ---- */
bool here_doc_begin(struct reader *r, struct item *item, bool strip);
bool here_docs_read(struct reader *r);
/* Whether a redirection begins here. */
bool redirect_follows(const struct reader *r);
bool redirect_read(struct reader *r);

/* ---- read.c, compound.c, cond.c, simple.c ---- */
/* Up to what ends it, which is not taken. empty: it may be. */
bool list_read(struct reader *r, bool empty);
bool command_read(struct reader *r);
bool compound_follows(const struct reader *r);
bool compound_read(struct reader *r);
bool function_read(struct reader *r, struct bytes name); /* its body */
bool cond_read(struct reader *r);
bool simple_read(struct reader *r);
/* Moves the items above mark, in order, into the command. */
bool items_take(struct reader *r, char *mark, uint32_t index);
/* Begins the head of a compound command; items_take ends it. */
uint32_t keyword_new(struct reader *r, const char *word, char **mark);

/* ---- place.c ---- */
extern const struct shell_cwd cwd_unknown;
const struct shell_cwd *cwd_of(struct reader *r, struct bytes path);
const struct shell_cwd *cwd_join(
	struct reader *r, const struct shell_cwd *a, const struct shell_cwd *b);
/* Where a path leads from each of the directories. */
const struct shell_cwd *cwd_enter(
	struct reader *r, const struct shell_cwd *from, struct bytes path);
/* Goes on after a command of which nothing more is known. */
void place_set(struct reader *r, const struct shell_cwd *cwd);
/* The end of a loop whose first command has that index. */
void place_loop(struct reader *r, uint32_t first, const struct place *before);

/* ---- special.c, wrapper.c, text.c ---- */
/* All that follows from a complete simple command: what it runs, and where that leaves. */
bool command_finish(struct reader *r, uint32_t index);
/* A variable gets a value that this text gives it. */
void name_assigned(struct reader *r, struct bytes name);
void word_assigned(struct reader *r, const struct shell_word *word);
/* What the command runs by its words. */
bool wrapper_read(struct reader *r, uint32_t index);
/* A command of the words from the k-th on (up to the end-th), run by another. */
bool wrapper_spawn(struct reader *r, uint32_t index, uint32_t k, uint32_t end, uint32_t flags,
	const struct shell_cwd *cwd);
/* A shell with its options. */
bool text_of_shell(struct reader *r, uint32_t index, bool sh);
/* The name of what is open already, or of a connection: its content is no file's. */
bool is_opened(struct bytes path);
enum text_kind {
	TEXT_OWN,     /* a process of its own */
	TEXT_PRESENT, /* in the present shell: eval */
	TEXT_LATER,   /* whenever: trap */
};
bool text_word(struct reader *r, uint32_t index, const struct shell_word *word,
	enum text_kind kind, bool sh);
/* The words from the k-th on, joined by spaces. */
bool text_joined(struct reader *r, uint32_t index, uint32_t k, enum text_kind kind, bool sh);
bool text_read(struct reader *r, uint32_t index, struct bytes text, uint32_t offset,
	enum text_kind kind, bool sh);

bool bytes_in(struct bytes word, const char *const *list); /* which NULL ends */

#endif
