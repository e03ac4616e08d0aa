/*
 * The kernel's socket diagnosis (sock_diag), which any process may query. It reports users since Linux 5.3, if the
 * kernel was built with its part for Unix sockets. We query it only for a socket that accepts no connection, whose user
 * we cannot find out in another way.
 */
#include "base/calls.h"
#include "object/listener.h"

#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <linux/sock_diag.h>
#include <linux/unix_diag.h>
#include <netinet/tcp.h>

struct answer {
	const char *name;
	size_t length;
	uid_t user;
	int error;
	bool over;
};

static int ask(int fd)
{
	struct {
		struct nlmsghdr header;
		struct unix_diag_req request;
	} message = {.header = {.nlmsg_len = sizeof(message),
	                 .nlmsg_type = SOCK_DIAG_BY_FAMILY,
	                 .nlmsg_flags = NLM_F_REQUEST | NLM_F_DUMP},
	    .request = {.sdiag_family = AF_UNIX,
	        .udiag_states = 1u << TCP_LISTEN,
	        .udiag_show = UDIAG_SHOW_NAME | UDIAG_SHOW_UID,
	        .udiag_cookie = {~0u, ~0u}}};

	return send(fd, &message, sizeof(message), 0) == sizeof(message) ? 0 : errno;
}

static void take_socket(const struct nlmsghdr *header, struct answer *answer)
{
	const struct unix_diag_msg *socket = NLMSG_DATA(header);
	const uid_t *user = NULL;
	bool named = false;
	int left = (int)header->nlmsg_len - (int)NLMSG_LENGTH(sizeof(*socket));

	if (socket->udiag_type != SOCK_STREAM) /* each type has names of its own */
		return;
	for (const struct rtattr *at = (const struct rtattr *)(socket + 1); RTA_OK(at, left); at = RTA_NEXT(at, left)) {
		/* an abstract name begins with a zero */
		if (at->rta_type == UNIX_DIAG_NAME)
			named = RTA_PAYLOAD(at) == answer->length + 1 && *(const char *)RTA_DATA(at) == 0 &&
			        memcmp((const char *)RTA_DATA(at) + 1, answer->name, answer->length) == 0;
		else if (at->rta_type == UNIX_DIAG_UID && RTA_PAYLOAD(at) == sizeof(*user))
			user = RTA_DATA(at);
	}
	if (!named)
		return;
	answer->error = user ? 0 : EOPNOTSUPP;
	answer->user = user ? *user : 0;
}

static void take(const struct nlmsghdr *header, struct answer *answer)
{
	if (header->nlmsg_type == NLMSG_DONE) {
		answer->over = true;
	} else if (header->nlmsg_type == NLMSG_ERROR) {
		const struct nlmsgerr *refusal = NLMSG_DATA(header);

		answer->error = sv_is_shortage(-refusal->error) ? -refusal->error : EOPNOTSUPP;
		answer->over = true;
	} else if (header->nlmsg_type == SOCK_DIAG_BY_FAMILY) {
		take_socket(header, answer);
	}
}

int sv_listener_user(const char *name, size_t length, uid_t *user)
{
	static _Atomic bool untold; /* the kernel does not report users, and will not */
	_Alignas(struct nlmsghdr) char buffer[16384];
	struct answer answer = {.name = name, .length = length, .error = ENOENT};

	if (atomic_load(&untold))
		return EOPNOTSUPP;
	int fd = sv_diagnosis_socket();

	if (fd < 0)
		return errno;
	int error = ask(fd);

	while (!error && !answer.over) {
		ssize_t n = recv(fd, buffer, sizeof(buffer), 0);
		int left = (int)n;

		if (n <= 0)
			error = n < 0 ? errno : EPROTO;
		for (const struct nlmsghdr *at = (const struct nlmsghdr *)buffer; NLMSG_OK(at, left); at = NLMSG_NEXT(at, left))
			take(at, &answer);
	}
	close(fd);
	if (!error && answer.error == EOPNOTSUPP)
		atomic_store(&untold, true);
	*user = answer.user;
	return error ? error : answer.error;
}
