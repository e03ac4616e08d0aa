package io.farheap.tier.device;

/** How a request to a {@link Device} ended. */
public final class IoStatus {

    public static final int OK = 0;
    /** A read below the device's beginning: it has written that over, or given it back. */
    public static final int GONE = 1;
    /** What was there is lost: a memory server died. */
    public static final int LOST = 2;
    /** The storage refused: an I/O error, a full disk. An append that failed may be there in part. */
    public static final int FAILED = 3;
    /** The handle was closed before the request was sent. */
    public static final int CLOSED = 4;

    private IoStatus() {}

    /** As {@link #describe(int)}, and why the storage of a device refused, where that is known. */
    public static String describe(int status, Device device) {
        String refusal = status == FAILED ? device.refusal() : null;
        return describe(status) + (refusal == null ? "" : ": " + refusal);
    }

    public static String describe(int status) {
        return switch (status) {
            case OK -> "ok";
            case GONE -> "the device has nothing at that address any more";
            case LOST -> "what was there is lost with its server";
            case FAILED -> "the storage refused";
            case CLOSED -> "the handle was closed";
            default -> "status " + status;
        };
    }
}
