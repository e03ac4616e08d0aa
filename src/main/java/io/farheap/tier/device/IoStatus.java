package io.farheap.tier.device;

/** The statuses with which a request to a {@link Device} ends. */
public final class IoStatus {

    /** The request has taken effect. A {@link DeviceHandle#sync sync} of a device that is not durable has ended. */
    public static final int OK = 0;
    /** The request was below the device's beginning: the device has overwritten that part, or it was truncated. */
    public static final int GONE = 1;
    /** The part is lost, since a memory server died. */
    public static final int LOST = 2;
    /**
     * The storage refused the request: an I/O error, a full disk; or a memory server could not be reached for a while.
     * Part of an append that failed may have been written.
     */
    public static final int FAILED = 3;
    /** The handle was closed before the request was sent. */
    public static final int CLOSED = 4;
    /**
     * The device has noticed that its bytes are not those that were appended, and cannot correct them: splits of a
     * coded page disagree. Another read may succeed, since it may use other splits.
     */
    public static final int CORRUPT = 5;

    private IoStatus() {}

    /** As {@link #describe(int)}, with the reason why the device's storage refused, if it is known. */
    public static String describe(int status, Device device) {
        String refusal = status == FAILED ? device.refusal() : null;
        return describe(status) + (refusal == null ? "" : ": " + refusal);
    }

    /** A status in words, for messages. */
    public static String describe(int status) {
        return switch (status) {
            case OK -> "ok";
            case GONE -> "the device has nothing at that address any more";
            case LOST -> "the content at that address is lost with its server";
            case FAILED -> "the storage refused";
            case CLOSED -> "the handle was closed";
            case CORRUPT -> "the content at that address is not what was appended";
            default -> "status " + status;
        };
    }
}
