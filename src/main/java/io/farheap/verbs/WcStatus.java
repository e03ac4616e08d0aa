package io.farheap.verbs;

import io.farheap.verbs.binding.ibverbs;

/** Statuses of work completions, numbered as in {@code enum ibv_wc_status}. */
public final class WcStatus {

    public static final int SUCCESS = ibverbs.IBV_WC_SUCCESS;
    public static final int LOC_LEN_ERR = ibverbs.IBV_WC_LOC_LEN_ERR;
    public static final int LOC_QP_OP_ERR = ibverbs.IBV_WC_LOC_QP_OP_ERR;
    public static final int LOC_PROT_ERR = ibverbs.IBV_WC_LOC_PROT_ERR;
    public static final int WR_FLUSH_ERR = ibverbs.IBV_WC_WR_FLUSH_ERR;
    public static final int REM_INV_REQ_ERR = ibverbs.IBV_WC_REM_INV_REQ_ERR;
    public static final int REM_ACCESS_ERR = ibverbs.IBV_WC_REM_ACCESS_ERR;
    public static final int REM_OP_ERR = ibverbs.IBV_WC_REM_OP_ERR;
    public static final int RETRY_EXC_ERR = ibverbs.IBV_WC_RETRY_EXC_ERR;
    public static final int RNR_RETRY_EXC_ERR = ibverbs.IBV_WC_RNR_RETRY_EXC_ERR;

    private WcStatus() {}

    /** The library's description of a status. */
    public static String describe(int status) {
        VerbsLibrary _ = Devices.library();
        return ibverbs.farheap_wc_status_str(status).getString();
    }
}
