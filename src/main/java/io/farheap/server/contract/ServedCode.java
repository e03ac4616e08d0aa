package io.farheap.server.contract;

/** Whose procedures a memory server runs on its threads. */
public enum ServedCode {
    /** None: calls of procedures are refused, and clients make each access themselves. */
    OFF,
    /** Those that come with Farheap. */
    BUILT_IN,
    /** Any class of a client's that its verifier admits. */
    JAVA
}
