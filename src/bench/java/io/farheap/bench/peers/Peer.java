package io.farheap.bench.peers;

/**
 * A place for one value, which is put and got one operation after another. One thread at a time. The loops are the
 * peer's own, so that the benchmark pays no call through this interface for each operation.
 */
@SuppressWarnings("try") // What a peer's library throws when it is closed.
public interface Peer extends AutoCloseable {

    /** Uses this value from now on: its size is what is measured, its content is what {@link #put} stores. */
    void use(byte[] value) throws Exception;

    /** Stores the value this many times; each time it has taken effect before the next. */
    void put(int times) throws Exception;

    /** Fetches the value this many times, to where an application can read it. */
    void get(int times) throws Exception;

    /** What the last {@link #get} brought. */
    byte[] got() throws Exception;

    /** A turn begins: a server that has to spin may. */
    default void begin() throws Exception {}

    /** A turn ends: nothing of this peer may use a processor while others have theirs. */
    default void end() throws Exception {}

    @Override
    void close() throws Exception;
}
