package io.farheap.rpc;

/**
 * The sleep word that a server thread writes to a client's ring: odd while the thread sleeps and needs a bell. A client
 * rings once for each value ({@code RingWriter}), so each sleep needs a value of its own, even if there was no room to
 * write that the thread awoke in between. The server thread alone uses it.
 */
final class SleepWord {

    private long told;
    /** The client believes that the thread sleeps, and there was no room to write that it awoke. */
    private boolean awokeUntold;

    /** The value written last. */
    long told() {
        return told;
    }

    private boolean toldAsleep() {
        return (told & 1) != 0;
    }

    /** Whether a value must be written to the client. */
    boolean isNews(boolean asleep) {
        return toldAsleep() != asleep || awokeUntold;
    }

    /** Notes that there is no room to write the value now. */
    void notTold(boolean asleep) {
        awokeUntold |= toldAsleep() && !asleep;
    }

    /** @return the value to write */
    long tell(boolean asleep) {
        told += toldAsleep() == asleep ? 2 : 1;
        awokeUntold = false;
        return told;
    }
}
