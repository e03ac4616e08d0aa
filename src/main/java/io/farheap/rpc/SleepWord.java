package io.farheap.rpc;

/**
 * What a server's thread has told a client of its sleep: a word in the client's ring, odd while the thread sleeps and
 * wants the bell. A client rings once for each word ({@code RingWriter}), so each sleep needs a word of its own, also
 * where there was no room to tell of the time awake between two. The server's thread alone.
 */
final class SleepWord {

    private long told;
    /** The client takes the thread for asleep, and could not be told that it awoke. */
    private boolean awokeUntold;

    /** What was told last. */
    long told() {
        return told;
    }

    private boolean toldAsleep() {
        return (told & 1) != 0;
    }

    /** Whether the client has to be told anything. */
    boolean isNews(boolean asleep) {
        return toldAsleep() != asleep || awokeUntold;
    }

    /** It cannot be told now. */
    void notTold(boolean asleep) {
        awokeUntold |= toldAsleep() && !asleep;
    }

    /** @return the word to tell it with */
    long tell(boolean asleep) {
        told += toldAsleep() == asleep ? 2 : 1;
        awokeUntold = false;
        return told;
    }
}
