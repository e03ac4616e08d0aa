#include "object/gid.h"

#include "object/limits.h"

#include <errno.h>
#include <stdbool.h>
#include <string.h>

/* Locally administered, and the same in every process, since all of them share one device. "softve" in ASCII. */
static const uint8_t guid[8] = {0x02, 0x73, 0x6f, 0xff, 0xfe, 0x66, 0x74, 0x76};

__be64 sv_guid(void)
{
	__be64 value;

	memcpy(&value, guid, sizeof(value));
	return value;
}

/* The entries of the table: each address as RoCEv1 and as RoCEv2. */
enum address { LINK_LOCAL, IPV4, UNIQUE_LOCAL };
static const struct {
	enum address address;
	enum ibv_gid_type type;
} table[SV_ROCE_GIDS] = {{LINK_LOCAL, IBV_GID_TYPE_ROCE_V1}, {IPV4, IBV_GID_TYPE_ROCE_V1},
    {LINK_LOCAL, IBV_GID_TYPE_ROCE_V2}, {IPV4, IBV_GID_TYPE_ROCE_V2}, {UNIQUE_LOCAL, IBV_GID_TYPE_ROCE_V1},
    {UNIQUE_LOCAL, IBV_GID_TYPE_ROCE_V2}};

void sv_gid(uint32_t index, union ibv_gid *gid)
{
	memset(gid, 0, sizeof(*gid));
	switch (table[index].address) {
	case LINK_LOCAL: /* fe80::GUID */
		gid->raw[0] = 0xfe;
		gid->raw[1] = 0x80;
		memcpy(gid->raw + 8, guid, sizeof(guid));
		break;
	case IPV4: /* ::ffff:127.0.0.1 */
		gid->raw[10] = gid->raw[11] = 0xff;
		gid->raw[12] = 127;
		gid->raw[15] = 1;
		break;
	case UNIQUE_LOCAL: /* fd00::GUID */
		gid->raw[0] = 0xfd;
		memcpy(gid->raw + 8, guid, sizeof(guid));
		break;
	}
}

enum ibv_gid_type sv_roce_type(uint32_t index)
{
	return table[index].type;
}

int sv_roce_reaches(uint32_t index, const union ibv_gid *to)
{
	for (uint32_t i = 0; i < SV_ROCE_GIDS; i++) {
		bool same_family = (table[i].address == IPV4) == (table[index].address == IPV4);
		union ibv_gid gid;

		sv_gid(i, &gid);
		if (table[i].type == table[index].type && same_family && memcmp(&gid, to, sizeof(gid)) == 0)
			return 0;
	}
	return ETIMEDOUT;
}
