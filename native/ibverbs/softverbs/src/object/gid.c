#include "object/gid.h"

#include <string.h>

/* Locally administered, and the same in every process, since all of them share one device. "softve" in ASCII. */
static const uint8_t guid[8] = {0x02, 0x73, 0x6f, 0xff, 0xfe, 0x66, 0x74, 0x76};

__be64 sv_guid(void)
{
	__be64 value;

	memcpy(&value, guid, sizeof(value));
	return value;
}

void sv_gid(uint32_t index, union ibv_gid *gid)
{
	memset(gid, 0, sizeof(*gid));
	if (index == 0) {
		gid->raw[0] = 0xfe;
		gid->raw[1] = 0x80;
		memcpy(gid->raw + 8, guid, sizeof(guid));
	} else { /* ::ffff:127.0.0.1 */
		gid->raw[10] = gid->raw[11] = 0xff;
		gid->raw[12] = 127;
		gid->raw[15] = 1;
	}
}
