/* SPDX-License-Identifier: MIT */
/* The header serves C++ as well; this is only compiled. */
#include <approval.h>

#include <memory>
#include <string>
#include <vector>

struct Free {
	void operator()(approval *a) const { approval_free(a); }
	void operator()(approval_value *v) const { approval_value_free(v); }
	void operator()(approval_pack *p) const { approval_pack_free(p); }
};

std::vector<std::string> pending(const std::string &socket)
{
	struct approval_options options;
	std::vector<std::string> ids;
	approval *raw = nullptr;
	approval_value *result = nullptr;

	approval_options_init(&options, APPROVAL_FRONTEND);
	options.socket = socket.c_str();
	if (approval_new(&raw, &options) < 0)
		return ids;
	std::unique_ptr<approval, Free> client(raw);
	if (approval_call_wait(client.get(), "list", "\x80", 1, 1000, &result) < 0)
		return ids;
	std::unique_ptr<approval_value, Free> reply(result);
	const approval_value *items = approval_value_get(reply.get(), "items");
	for (size_t i = 0; i < approval_value_count(items); i++)
		ids.emplace_back(approval_value_text(approval_value_at(items, i), "request"));
	return ids;
}

enum approval_verdict ask(approval *client, const char *tool)
{
	struct approval_request request;
	const approval_decision *decision = nullptr;

	approval_request_init(&request);
	request.tool = tool;
	if (approval_request_wait(client, &request, -1, &decision) < 0)
		return APPROVAL_DENY;
	return decision->verdict;
}
