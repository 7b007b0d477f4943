/* SPDX-License-Identifier: MIT */
#include "config.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "frontends/common/start.h"
#include "frontends/ctl/ctl.h"
#include "frontends/ctl/item.h"
#include "libapproval/limits.h"

#define REPLY_MS 30000

int ctl_open(struct ctl *c, struct approval_options *options)
{
	options->client = "approvalctl " PACKAGE_VERSION;
	options->socket = c->socket;
	return ctl_own(c, approval_new(&c->client, options));
}

static int start_advise(const struct ctl *c)
{
	output_printf(
		&c->err, "Start one with " START_HOW "; 'approvalctl doctor' tells more.\n");
	return STATUS_NO_BROKER;
}

void ctl_missing(const struct ctl *c)
{
	ctl_say(c, "%s; waiting for a broker", approval_status(c->client));
	start_advise(c);
}

int ctl_open_once(struct ctl *c, struct approval_options *options)
{
	int status;

	options->retry_ms = CTL_ONCE_MS;
	options->no_reconnect = true;
	status = ctl_open(c, options);
	/* where there is not even a socket, nothing is worth waiting for */
	if (!status && access(approval_socket(c->client), F_OK) && errno == ENOENT) {
		ctl_say(c, "no broker at %s", approval_socket(c->client));
		status = start_advise(c);
	}
	return status;
}

int ctl_open_frontend(struct ctl *c)
{
	struct approval_options options;

	approval_options_init(&options, APPROVAL_FRONTEND);
	return ctl_open_once(c, &options);
}

static bool error_is(const struct approval_error *e, const char *code)
{
	return e && !strcmp(e->code, code);
}

/* What a person can do about an answer of the broker to a call whose name begins so; NULL:
 * nothing that the message does not say. */
static const char *error_advice(const struct ctl *c, const struct approval_error *e)
{
	static const struct {
		const char *code, *method, *advice;
	} list[] = {
		{"forbidden", "",
			"Only a person answers: run this from a terminal of your own, not from "
			"inside an agent."},
		{"unknown_method", "",
			"The broker is of another version; 'approvalctl doctor' shows both."},
		{"protocol", "",
			"The broker is of another version; 'approvalctl doctor' shows both."},
		{"store", "",
			"The broker can't write its store; 'approvalctl doctor' shows where it "
			"is."},
		{"shutdown", "", "The broker is stopping; try again."},
		{"not_found", "rules_remove",
			"'approvalctl rules' shows what there is; what has no number is changed in "
			"its file."},
		{"not_found", "rules_trust",
			"'approvalctl rules trust --list' shows what is trusted."},
		{"not_found", "rules_project",
			"'approvalctl rules trust --list' shows what is trusted."},
		{"not_found", "",
			"'approvalctl list' and 'approvalctl sessions' show what there is."},
		{"gone", "", "'approvalctl history' tells more."},
		{"limit", "rules_", "'approvalctl rules remove' makes room."},
		{"limit", "",
			"Answer or cancel some of the pending requests: 'approvalctl list'."},
	};
	const char *const method = c->method ? c->method : "";

	for (size_t i = 0; i < sizeof(list) / sizeof(list[0]); i++)
		if (error_is(e, list[i].code) &&
			!strncmp(method, list[i].method, strlen(list[i].method)))
			return list[i].advice;
	return NULL;
}

static int error_say(const struct ctl *c, const struct approval_error *e)
{
	const char *state = approval_value_text(e->data, "state");
	const char *source = approval_value_text(e->data, "source");
	const char *advice = error_advice(c, e);

	if (error_is(e, "gone"))
		ctl_say(c, "it has ended: %s by %s", state, item_source(source));
	else
		ctl_say(c, "%s", e->message);
	if (advice)
		output_printf(&c->err, "%s\n", advice);
	return STATUS_FAILED;
}

int ctl_broke(const struct ctl *c, int status, const struct approval_error *error)
{
	if (!status)
		return STATUS_OK;
	if (status == -EREMOTEIO && error)
		return error_say(c, error);
	if (status == -ENOMEM || status == -EINVAL)
		return ctl_own(c, status);
	if (status == -EPROTO) {
		ctl_say(c, "the broker's answer makes no sense");
		output_printf(&c->err, "'approvalctl doctor' shows both versions.\n");
		return STATUS_NO_BROKER;
	}
	if (status == -ETIMEDOUT && approval_hello(c->client)) {
		ctl_say(c, "the broker does not answer");
		output_printf(&c->err, "'approvalctl doctor' tells more.\n");
		return STATUS_NO_BROKER;
	}
	ctl_say(c, "%s", approval_status(c->client));
	if (status != -EACCES)
		return start_advise(c);
	output_printf(&c->err, "This is not a broker of yours; 'approvalctl doctor' shows "
			       "which variables name it.\n");
	return STATUS_NO_BROKER;
}

static bool param_given(const struct param *p)
{
	switch (p->type) {
	case PARAM_TEXT: return p->text;
	case PARAM_INT:
	case PARAM_BOOL: return p->number >= 0;
	case PARAM_RAW: return approval_value_type(p->raw) != APPROVAL_NIL;
	}
	return false;
}

static int param_pack(struct approval_pack *p, const struct param *param)
{
	size_t len;
	const void *raw;
	int r = approval_pack_str(p, param->key);

	if (r)
		return r;
	switch (param->type) {
	case PARAM_TEXT: return approval_pack_str(p, param->text);
	case PARAM_INT: return approval_pack_int(p, param->number);
	case PARAM_BOOL: return approval_pack_bool(p, param->number);
	case PARAM_RAW: break;
	}
	raw = approval_value_raw(param->raw, &len);
	return approval_pack_raw(p, raw, len);
}

int ctl_try(struct ctl *c, const char *method, const struct param *params, size_t n,
	struct approval_value **result)
{
	struct approval_pack *p;
	size_t given = 0, len;
	int r = approval_pack_new(&p);

	c->method = method;
	if (r)
		return r;
	for (size_t i = 0; i < n; i++)
		given += param_given(&params[i]);
	r = approval_pack_map(p, given);
	for (size_t i = 0; !r && i < n; i++)
		if (param_given(&params[i]))
			r = param_pack(p, &params[i]);
	if (!r) {
		const void *data = approval_pack_data(p, &len);

		r = approval_call_wait(c->client, method, data, len, REPLY_MS, result);
	}
	approval_pack_free(p);
	return r;
}

int ctl_call(struct ctl *c, const char *method, const struct param *params, size_t n,
	struct approval_value **result)
{
	int r = ctl_try(c, method, params, n, result);

	return ctl_broke(c, r, approval_last_error(c->client));
}

/* ---- lists ---- */

static int items_add(struct items *out, struct approval_value *page)
{
	const struct approval_value *list = approval_value_get(page, "items");
	struct approval_value **pages;

	pages = reallocarray(out->pages, out->n_pages + 1, sizeof(*pages));
	if (!pages) {
		approval_value_free(page);
		return -ENOMEM;
	}
	out->pages = pages;
	out->pages[out->n_pages++] = page;

	size_t more = approval_value_count(list);
	if (out->n + more > out->size) {
		size_t size = 2 * out->size > out->n + more ? 2 * out->size : out->n + more;
		const struct approval_value **items;

		items = reallocarray(out->items, size, sizeof(*items));
		if (!items)
			return -ENOMEM;
		out->items = items;
		out->size = size;
	}
	for (size_t i = 0; i < more; i++)
		out->items[out->n++] = approval_value_at(list, i);
	return 0;
}

int items_fetch(struct ctl *c, const char *method, const struct param *params, size_t n,
	struct items *out)
{
	struct param all[PARAMS_MAX + 2];
	const struct approval_value *cursor = NULL;

	*out = (struct items){0};
	if (n > PARAMS_MAX)
		return ctl_own(c, -EINVAL);
	if (n)
		memcpy(all, params, n * sizeof(*params));
	all[n] = PARAM_INT("limit", LIMIT_PAGE);
	for (;;) {
		struct approval_value *page;

		all[n + 1] = PARAM_RAW("cursor", cursor);
		int status = ctl_call(c, method, all, n + 2, &page);
		if (status)
			return status;
		status = ctl_own(c, items_add(out, page));
		if (status)
			return status;
		cursor = approval_value_get(page, "cursor");
		if (!approval_value_bool(approval_value_get(page, "more")) ||
			approval_value_type(cursor) == APPROVAL_NIL)
			return STATUS_OK;
	}
}

void items_free(struct items *items)
{
	for (size_t i = 0; i < items->n_pages; i++)
		approval_value_free(items->pages[i]);
	free(items->pages);
	free(items->items);
}

int ctl_resolve(struct ctl *c, const char *word, const char *type, char **id)
{
	const struct param params[] = {PARAM_TEXT("id", word)};
	struct approval_value *result;
	int status = ctl_call(c, "get", params, 1, &result);

	if (status)
		return status;

	const struct approval_value *item = approval_value_get(result, "item");
	const char *is = approval_value_text(item, "type");
	if (strcmp(is, type)) {
		ctl_say(c, "'%s' is a %s, not a %s", word, *is ? is : "thing unknown here",
			type);
		status = STATUS_FAILED;
	} else {
		*id = strdup(approval_value_text(item, type));
		status = ctl_own(c, *id ? 0 : -ENOMEM);
	}
	approval_value_free(result);
	return status;
}
