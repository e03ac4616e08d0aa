package io.farheap.server.contract;

/** Which procedures a memory server runs on its threads. */
public enum ServedCode {
    /** None: calls of procedures are refused, and clients make each access themselves. */
    OFF,
    /** The procedures that come with Farheap. */
    BUILT_IN,
    /** Any class of a client that the translator admits. */
    JAVA
}
