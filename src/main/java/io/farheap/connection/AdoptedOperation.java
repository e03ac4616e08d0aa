package io.farheap.connection;

/**
 * The operation, if there is one, that a connection's single-call {@link Connection#now} left in flight. It has a slot
 * of its own, beside the ring. One thread at a time; nothing here allocates.
 */
final class AdoptedOperation {

    private boolean inFlight;
    private long tag;
    /** The range that it reads; empty if there is no operation, or it writes. */
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

    /** Ends the operation and returns its tag. */
    long take() {
        inFlight = false;
        readBytes = 0;
        return tag;
    }

    /** Whether it reads any byte of a range. */
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
