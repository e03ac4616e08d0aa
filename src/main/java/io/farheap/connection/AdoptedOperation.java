package io.farheap.connection;

/**
 * The operation that a connection's one native call left in flight, if there is one: it has a slot of its own, beside
 * the ring. One thread at a time; nothing here allocates.
 */
final class AdoptedOperation {

    private boolean inFlight;
    private long tag;
    /** What it reads; no bytes where there is none, or where it writes. */
    private long readAddress;

    private int readBytes;
    private int localKey;
    private int remoteKey;

    boolean inFlight() {
        return inFlight;
    }

    void begin(long itsTag, boolean write, int itsLocalKey, long remoteAddress, int itsRemoteKey, int bytes) {
        inFlight = true;
        tag = itsTag;
        readAddress = remoteAddress;
        readBytes = write ? 0 : bytes;
        localKey = itsLocalKey;
        remoteKey = itsRemoteKey;
    }

    long tag() {
        return tag;
    }

    /** Ends it. */
    long take() {
        inFlight = false;
        readBytes = 0;
        return tag;
    }

    /** Whether it reads some of a range. */
    boolean reads(long remoteAddress, int bytes) {
        return readBytes > 0 && readAddress < remoteAddress + bytes && remoteAddress < readAddress + readBytes;
    }

    boolean usesLocal(int key) {
        return inFlight && localKey == key;
    }

    boolean usesRemote(int key) {
        return inFlight && remoteKey == key;
    }
}
