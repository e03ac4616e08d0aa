package io.farheap.remote;

import static java.lang.foreign.ValueLayout.JAVA_LONG;

import io.farheap.remote.contract.Outcome;
import io.farheap.remote.contract.PostResult;
import io.farheap.remote.contract.RemoteRegion;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.SplittableRandom;

/** Random operations of all kinds on a few words of several regions, compared with a model of those words. */
final class RandomOperations {

    private static final int WORDS = 4;
    private static final int SLOTS = 64;

    private enum Kind {
        READ,
        WRITE,
        SWAP,
        ADD
    }

    private record Issued(long tag, Kind kind, int slot, long expected) {}

    private final SplittableRandom random;
    private final RemoteQueue queue;
    private final List<RemoteRegion> regions;
    private final RegisteredBuffer buffer;
    private final long[][] model;
    private final List<Deque<Issued>> issued = new ArrayList<>();
    private final Deque<Integer> freeSlots = new ArrayDeque<>();
    private final List<String> problems = new ArrayList<>();
    private long nextTag;
    private boolean listing;

    RandomOperations(SplittableRandom random, RemoteQueue queue, List<RemoteRegion> regions, RegisteredBuffer buffer) {
        this.random = random;
        this.queue = queue;
        this.regions = regions;
        this.buffer = buffer;
        this.model = new long[regions.size()][WORDS];
        regions.forEach(region -> issued.add(new ArrayDeque<>()));
        for (int slot = 0; slot < SLOTS; slot++) {
            freeSlots.add(slot);
        }
    }

    /** @return the differences from the model; empty if there is none */
    List<String> run(int operations) {
        for (int i = 0; i < operations && problems.isEmpty(); i++) {
            if (random.nextInt(16) == 0) {
                flipList();
            }
            if (freeSlots.isEmpty() || !issue() || random.nextInt(8) == 0) {
                if (listing && (freeSlots.isEmpty() || random.nextBoolean())) {
                    flipList();
                }
                queue.poll(this::completed);
            }
        }
        if (listing) {
            flipList();
        }
        while (queue.inFlight() > 0) {
            queue.poll(this::completed);
        }
        if (freeSlots.size() != SLOTS) {
            problems.add("of " + SLOTS + " slots " + freeSlots.size() + " came back");
        }
        return problems;
    }

    private void flipList() {
        if (listing) {
            queue.postList();
        } else {
            queue.beginList();
        }
        listing = !listing;
    }

    private boolean issue() {
        int region = random.nextInt(regions.size());
        int word = random.nextInt(WORDS);
        int slot = freeSlots.peek();
        Kind kind = Kind.values()[random.nextInt(4)];
        long tag = nextTag << 8 | region;
        long value = random.nextLong();
        long before = model[region][word];
        long expected = random.nextBoolean() ? before : value + 1;
        if (kind == Kind.WRITE) {
            buffer.segment().set(JAVA_LONG, at(slot), value);
        }
        int posting =
                switch (kind) {
                    case READ -> queue.read(regions.get(region), at(word), buffer, at(slot), Long.BYTES, tag);
                    case WRITE -> queue.write(regions.get(region), at(word), buffer, at(slot), Long.BYTES, tag);
                    case SWAP ->
                        queue.compareAndSwap(regions.get(region), at(word), expected, value, buffer, at(slot), tag);
                    case ADD -> queue.fetchAndAdd(regions.get(region), at(word), value, buffer, at(slot), tag);
                };
        if (posting == PostResult.FULL) {
            return false;
        }
        if (posting != PostResult.OK) {
            problems.add(kind + ": " + PostResult.describe(posting));
            return false;
        }
        freeSlots.remove();
        nextTag++;
        issued.get(region).add(new Issued(tag, kind, slot, kind == Kind.WRITE ? value : before));
        model[region][word] = switch (kind) {
            case READ -> before;
            case WRITE -> value;
            case SWAP -> expected == before ? value : before;
            case ADD -> before + value;
        };
        return true;
    }

    private void completed(long tag, int outcome) {
        Issued operation = issued.get((int) (tag & 255)).poll();
        if (operation == null || operation.tag() != tag || outcome != Outcome.DONE) {
            problems.add("tag " + tag + " came back " + Outcome.describe(outcome) + " instead of " + operation);
            return;
        }
        long there = buffer.segment().get(JAVA_LONG, at(operation.slot()));
        if (there != operation.expected()) {
            problems.add(operation + " found " + there);
        }
        freeSlots.add(operation.slot());
    }

    private static long at(int word) {
        return (long) word * Long.BYTES;
    }
}
