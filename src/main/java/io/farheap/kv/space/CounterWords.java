package io.farheap.kv.space;

import io.farheap.remote.contract.CompletionHandler;
import io.farheap.remote.contract.PostResult;

/** The words with the number of the last session, one on each server. */
interface CounterWords {

    /** Tags of reconnections begin here; the tag of another operation is its server. */
    long RECONNECTS = 1L << 32;

    /** The server that has the first region of the table. */
    int first();

    /** How many servers the map was made on; their numbers are below. */
    int servers();

    /** Whether a server has the table, and its lease is held. */
    boolean reaches(int server);

    /** Adds 1 to the first server's word; the tag is the server. @return as of {@link PostResult} */
    int add();

    /** Compares and swaps another server's word; the tag is the server. @return as of {@link PostResult} */
    int swap(int server, long compare, long value);

    /** Makes the connection to a server again; the tag is {@link #RECONNECTS} with the server. */
    void reconnect(int server);

    /** The old word, by the last operation that has ended there. */
    long old(int server);

    int poll(CompletionHandler handler);

    void await(long nanos);
}
