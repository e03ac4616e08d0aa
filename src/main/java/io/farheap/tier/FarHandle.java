package io.farheap.tier;

import io.farheap.cache.Cache;
import io.farheap.cache.CacheSession;
import io.farheap.cache.contract.Completion;
import io.farheap.cache.contract.Status;
import io.farheap.thread.Uninterruptibles;
import io.farheap.tier.device.AppendCompletion;
import io.farheap.tier.device.Device;
import io.farheap.tier.device.IoCompletion;
import io.farheap.tier.device.IoStatus;
import io.farheap.tier.handle.BaseHandle;
import io.farheap.tier.handle.OwnedMemory;
import io.farheap.tier.handle.PendingAppends;
import io.farheap.tier.handle.RequestSlots;
import io.farheap.tier.handle.SlotQueue;

/** Requests of one thread to a {@link FarDevice}: a session of its cache. */
final class FarHandle extends BaseHandle implements Completion {

    /** How long a thread that waits pauses before appends are sent again: their server may be away for long. */
    private static final long PAUSE_NANOS = 1_000_000;

    private final FarLog log;
    private final CacheSession session;
    private final PendingAppends appends;
    /** Requests that have ended and whose completions were not called yet. */
    private final SlotQueue ended;
    /** Appends whose connection failed, which are sent again. */
    private final SlotQueue again;
    /** Whether the session has each request. */
    private final boolean[] sent;

    private boolean sleeping;
    /** Whether a completion is running, or has thrown. */
    private boolean calling;
    /** The cache is closed. */
    private boolean lost;
    /** The handle is closing, so that nothing is sent again. */
    private boolean ending;

    FarHandle(Device device, Registry registry, FarLog log, Cache cache, int requests) {
        super(device, registry, requests);
        this.log = log;
        this.appends = new PendingAppends(requests);
        this.ended = new SlotQueue(requests);
        this.again = new SlotQueue(requests);
        this.sent = new boolean[requests];
        // Opening a session calls servers; an interrupt would end these calls.
        this.session = Uninterruptibles.call(cache::openSession);
        log.began(appends);
    }

    @Override
    protected boolean append(
            long address, OwnedMemory source, long offset, long length, AppendCompletion completion, long token) {
        if (!log.makeRoom(address + length)) {
            return false;
        }
        int slot = slots.take(RequestSlots.APPEND, address, source, offset, length, token);
        slots.appends[slot] = completion;
        appends.add(slot, address);
        if (address < log.begin()) {
            return endWith(slot, IoStatus.GONE);
        }
        return send(true, slot);
    }

    @Override
    protected boolean read(
            long address, OwnedMemory destination, long offset, long length, IoCompletion completion, long token) {
        int slot = slots.take(RequestSlots.READ, address, destination, offset, length, token);
        slots.completions[slot] = completion;
        if (address < log.begin()) {
            return endWith(slot, IoStatus.GONE);
        }
        return send(false, slot);
    }

    /** Ends at once: far memory survives nothing, so there is nothing to sync. */
    @Override
    protected boolean startSync(IoCompletion completion, long token) {
        int slot = slots.take(RequestSlots.SYNC, token);
        slots.completions[slot] = completion;
        return endWith(slot, lost ? IoStatus.LOST : IoStatus.OK);
    }

    private boolean endWith(int slot, int status) {
        slots.status[slot] = status;
        ended.add(slot);
        return true;
    }

    private boolean send(boolean write, int slot) {
        boolean taken = trySend(write, slot);
        if (!taken) {
            appends.remove(slot);
            slots.give(slot);
        }
        return taken;
    }

    /** @return false if the session has no room */
    private boolean trySend(boolean write, int slot) {
        if (lost) {
            return endWith(slot, IoStatus.LOST);
        }
        long place = log.place(slots.address[slot]);
        FarDeviceMemory memory = (FarDeviceMemory) slots.memory(slot);
        long offset = slots.offset[slot];
        long length = slots.length[slot];
        try {
            sent[slot] = write
                    ? session.write(place, memory.buffer, offset, length, this, slot)
                    : session.read(place, memory.buffer, offset, length, this, slot);
        } catch (IllegalStateException | IndexOutOfBoundsException e) {
            // The cache was closed, or made smaller.
            return endWith(slot, IoStatus.LOST);
        }
        return sent[slot];
    }

    /** The session's callback. */
    @Override
    public void completed(long token, int status) {
        int slot = (int) token;
        sent[slot] = false;
        if (!ending && repeats(status) && slots.kind[slot] == RequestSlots.APPEND) {
            again.add(slot);
            return;
        }
        slots.status[slot] = outcome(status);
        if (sleeping) {
            ended.add(slot);
        } else {
            end(slot);
        }
    }

    /** The device's status for one of the cache's. Only content that is gone is lost: another failure may pass. */
    static int outcome(int status) {
        return switch (status) {
            case Status.OK -> IoStatus.OK;
            case Status.LOST -> IoStatus.LOST;
            case Status.CLOSED -> IoStatus.CLOSED;
            case Status.CORRUPT -> IoStatus.CORRUPT;
            default -> IoStatus.FAILED;
        };
    }

    /**
     * Whether an append that has ended so is sent again: its bytes are the same, and its place has no other writer. If
     * its server is gone, the lease ends, and the append is lost. It fails if the handle is closed meanwhile.
     */
    private static boolean repeats(int status) {
        return status == Status.UNKNOWN || status == Status.UNREACHABLE;
    }

    private void end(int slot) {
        if (slots.kind[slot] == RequestSlots.APPEND) {
            if (slots.status[slot] == IoStatus.OK) {
                log.wrote(slots.address[slot] + slots.length[slot]);
            }
            appends.remove(slot);
        }
        // The beginning moves first, then the place is written: the bytes that were read may be a later append's.
        if (slots.kind[slot] != RequestSlots.SYNC && slots.address[slot] < log.begin()) {
            slots.status[slot] = IoStatus.GONE;
        }
        calling = true;
        finish(slot);
        calling = false;
    }

    @Override
    protected int progress() {
        int done = 0;
        while (!ended.isEmpty()) {
            end(ended.remove());
            done++;
        }
        for (int left = again.size(); left > 0; left--) {
            int slot = again.remove();
            if (!trySend(true, slot)) {
                again.add(slot);
            }
        }
        if (!lost) {
            try {
                return done + session.poll();
            } catch (IllegalStateException e) {
                failed(e);
            }
        }
        return done;
    }

    /** Throws the exception if a completion has thrown it; otherwise the cache is closed, and requests end as lost. */
    private void failed(IllegalStateException cause) {
        if (calling) {
            calling = false;
            throw cause;
        }
        lost = true;
        for (int slot = 0; slot < sent.length; slot++) {
            if (sent[slot]) {
                sent[slot] = false;
                endWith(slot, IoStatus.LOST);
            }
        }
    }

    @Override
    protected void sleep() {
        if (!ended.isEmpty() || lost) {
            return;
        }
        if (!again.isEmpty()) {
            Uninterruptibles.parkNanos(this, PAUSE_NANOS);
            return;
        }
        sleeping = true;
        try {
            session.awaitProgress();
        } catch (IllegalStateException e) {
            failed(e);
        } finally {
            sleeping = false;
        }
    }

    @Override
    protected void released() {
        if (!lost) {
            session.release();
        }
    }

    @Override
    protected void beginEnd() {
        ending = true;
        while (!again.isEmpty()) {
            endWith(again.remove(), IoStatus.FAILED);
        }
    }

    @Override
    protected void end() {
        log.ended(appends);
        session.close();
    }
}
