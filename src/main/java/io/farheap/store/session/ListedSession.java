package io.farheap.store.session;

import java.time.Duration;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/** A session as the store sees it: an entry in its list of sessions, which checkpoints and the store's close use. */
public final class ListedSession {

    private final String name;
    private final SessionSerials serials;
    private final SessionGate gate;
    private final StoreSessionCounts counts;
    private final DeviceReads device;
    private final Consumer<ListedSession> owner;

    /**
     * @param name empty for a session that checkpoints do not remember
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

    /** How many operations the session has accepted, in earlier lives too. Called by the session's thread. */
    long serial() {
        return serials.accepted();
    }

    /** Says that a durable checkpoint has the session's first {@code operations} operations. */
    public void durable(long operations) {
        serials.durable(operations);
    }

    /**
     * Whether an update of the session waits for the device or for another session. Any thread; may be a moment old.
     */
    public boolean updatesPending() {
        return device.pending.updates() > 0;
    }

    /** As {@link SessionSerials#before}. */
    public long serialBefore(long version) {
        return serials.before(version, gate);
    }

    /**
     * From now on no operation begins. Called by the store; one may be under way until the current epoch has passed.
     */
    public void refuse() {
        gate.close();
    }

    /** As {@link SessionGate#runBy}. */
    @Nullable
    String runBy(long thread) {
        return gate.runBy(thread);
    }

    /** Waits until no thread is inside a poll. Called by the store, after {@link #refuse} and an epoch. */
    public void awaitPoll() {
        gate.awaitPoll();
    }

    /**
     * Ends the session with its store. Called by the store, whose parts the session does not use afterwards. If another
     * thread was the last to use the session and has not released it, that thread has to close it; until then the
     * session has only memory and a device handle of its own.
     *
     * @param patience how long to wait for pending updates, which are finished first, if possible
     * @return whether all operations that the session has accepted are done
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

    /**
     * Ends the session, once nothing is pending. Called by the session's thread; does nothing if the store has ended
     * the session.
     */
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
