package io.farheap.store.session;

import java.time.Duration;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/** A session as its store has it: in the list of sessions, for checkpoints and for the store's end. */
public final class ListedSession {

    private final String name;
    private final SessionSerials serials;
    private final SessionGate gate;
    private final StoreSessionCounts counts;
    private final DeviceReads device;
    private final Consumer<ListedSession> owner;

    /**
     * @param name empty for one that nothing is remembered of
     * @param owner called when the session has ended
     */
    public ListedSession(
            String name,
            SessionSerials serials,
            SessionGate gate,
            StoreSessionCounts counts,
            DeviceReads device,
            Consumer<ListedSession> owner) {
        this.name = name;
        this.serials = serials;
        this.gate = gate;
        this.counts = counts;
        this.device = device;
        this.owner = owner;
    }

    StoreSessionCounts counts() {
        return counts;
    }

    /** Empty for one that nothing is remembered of. */
    public String name() {
        return name;
    }

    /** How many operations it has accepted, of its earlier lives too. By the session's thread. */
    long serial() {
        return serials.accepted();
    }

    /** A checkpoint is durable that has so many of its operations. */
    public void durable(long operations) {
        serials.durable(operations);
    }

    /** Whether one of its updates waits, for the device or for another session. Any thread; a moment old. */
    public boolean updatesPending() {
        return device.pending.updates() > 0;
    }

    /** As {@link SessionSerials#before}. */
    public long serialBefore(long version) {
        return serials.before(version, gate);
    }

    /** No operation begins any more. By the store: one may be under way until the present epoch has passed. */
    public void refuse() {
        gate.close();
    }

    /** As {@link SessionGate#runBy}. */
    @Nullable
    String runBy(long thread) {
        return gate.runBy(thread);
    }

    /** By the store, behind {@link #refuse} and an epoch. */
    public void awaitPoll() {
        gate.awaitPoll();
    }

    /**
     * By the store, whose parts are used no more afterwards. A session that another thread has used last, and not
     * released, is that thread's to close: it has nothing of the store then but memory and a handle of its own.
     *
     * @param patience for updates that are pending, which are done first, if they can be
     * @return whether all that it has accepted is done
     */
    public boolean endWithStore(Duration patience) {
        if (!device.claimOrLeave()) {
            return !updatesPending();
        }
        gate.endHere();
        try {
            SessionDrain.updates(device, patience);
            return !updatesPending();
        } finally {
            finish();
        }
    }

    /** By the session's thread, behind what was pending; it does nothing if the store has ended the session. */
    public void end() {
        if (device.claim()) {
            finish();
        }
    }

    private void finish() {
        gate.close();
        try {
            device.close();
        } finally {
            gate.giveBack();
            owner.accept(this);
        }
    }
}
