package io.farheap.kv.service;

import io.farheap.kv.format.MapCalls;

/** A process that has the map open and has registered. */
final class MapMember {

    final long lease;
    final long process;
    /** The round and phase of the sweep for which it has reported all its blocks. */
    long reportedRound;

    int reportedPhase;
    /**
     * Its acknowledged epoch: all of its requests in flight began when the service's epoch had this value, or later.
     */
    long epoch;
    /** When it last registered, sent a heartbeat or took something, by {@link System#nanoTime}. */
    long heardAt;

    /** The servers that the map was made on and whose lease it has lost, a bit for each of the first 64. */
    long lost;

    /** The servers that have joined and on which it has a lease, a bit for each remainder of their numbers by 64. */
    long joined;
    /** Whether it has sent a heartbeat, and so has said which servers it uses. */
    boolean beats;

    /** The servers that had left the map when it opened it, a bit for each of the first 64. */
    long retired;

    /** How many of the regions that the map has grown by it has added. */
    long growths;

    /** The number and answer of the last call that changed something, for a call that is repeated. */
    long lastNumber;

    final long[] lastReply = new long[3 + MapCalls.MOST_TAKEN];
    int lastReplyWords;

    MapMember(long lease, long process) {
        this.lease = lease;
        this.process = process;
    }
}
