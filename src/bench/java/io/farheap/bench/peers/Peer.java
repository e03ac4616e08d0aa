package io.farheap.bench.peers;

/**
 * A store of one value, with puts and gets one after another. One thread at a time. Each peer has loops of its own, so
 * that the benchmark does not pay a call through this interface for each operation.
 */
@SuppressWarnings("try") // What a peer's library throws when it is closed.
public interface Peer extends AutoCloseable {

    /** Sets the value: its size is measured, and {@link #put} stores its content. */
    void use(byte[] value) throws Exception;

    /** Stores the value this many times; each put has taken effect before the next begins. */
    void put(int times) throws Exception;

    /** Fetches the value this many times, into memory that an application can read. */
    void get(int times) throws Exception;

    /** Returns the value that the last {@link #get} has fetched. */
    byte[] got() throws Exception;

    /** Whether this process's memory, or the page cache, has the value. */
    default boolean local() {
        return false;
    }

    /** Returns how many cores the peer keeps busy in its turns, in all of its processes. */
    default int cores() {
        return PeerMeans.CLIENT_AND_SERVER;
    }

    /** Whether its operations are those of this process's RDMA device, which may have a model. */
    default boolean onDevice() {
        return false;
    }

    /** Whether a get posts READs alone to the device, of which it is not known whether they were late. */
    default boolean readsAlone() {
        return true;
    }

    /** A turn begins: a server that has to spin may do so. */
    default void begin() throws Exception {}

    /** A turn ends: this peer must use no processor during the turns of others. */
    default void end() throws Exception {}

    @Override
    void close() throws Exception;
}
