package io.farheap.kv.service;

import io.farheap.kv.format.MapCalls;

/** A process that has the map open and has registered. */
final class MapMember {

    final long lease;
    final long process;
    /** The round and phase of a collection that it has reported all its blocks for. */
    long reportedRound;

    int reportedPhase;
    /** All of its requests in flight have begun when the service's epoch said this, or later. */
    long epoch;
    /** When it registered, beat or took something last, by {@link System#nanoTime}. */
    long heardAt;

    /** Of what the map has grown by so many. */
    long growths;

    /** The last call that changed something, and its answer, for one that comes again. */
    long lastNumber;

    final long[] lastReply = new long[3 + MapCalls.MOST_TAKEN];
    int lastReplyWords;

    MapMember(long lease, long process) {
        this.lease = lease;
        this.process = process;
    }
}
