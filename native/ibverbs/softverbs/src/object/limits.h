/* The limits that the device reports. */
#pragma once
#define SV_MAX_SGE 32
#define SV_MAX_INLINE 1024
#define SV_MAX_QP_WR 32768
#define SV_MAX_SRQ_WR 32768
#define SV_MAX_CQE (1 << 22)
#define SV_MAX_RD_ATOMIC 128
#define SV_MAX_MESSAGE 0x80000000u
#define SV_LID 1
#define SV_GIDS 2
#define SV_ROCE_GIDS 6
#define SV_UD_MTU 4096
#define SV_GRH_BYTES 40
