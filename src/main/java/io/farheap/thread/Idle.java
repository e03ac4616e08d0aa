package io.farheap.thread;

/** What a polling thread does while it finds nothing to do. */
public enum Idle {

    /** Polls on: the lowest latency, and all of a core. */
    SPIN,
    /** Polls less and less often, up to every millisecond: a wake-up without an event costs that at most. */
    BACK_OFF,
    /** Polls for a while, then sleeps until an event wakes it: no CPU, and a wake-up costs tens of microseconds. */
    PARK
}
