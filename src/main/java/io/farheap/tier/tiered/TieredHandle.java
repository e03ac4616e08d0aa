package io.farheap.tier.tiered;

import io.farheap.lifetime.Closeables;
import io.farheap.thread.Uninterruptibles;
import io.farheap.tier.device.AppendCompletion;
import io.farheap.tier.device.Device;
import io.farheap.tier.device.IoCompletion;
import io.farheap.tier.device.IoStatus;
import io.farheap.tier.handle.BaseHandle;
import io.farheap.tier.handle.OwnedMemory;
import io.farheap.tier.handle.RequestSlots;
import io.farheap.tier.handle.SlotQueue;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Requests of one thread to a {@link io.farheap.tier.TieredDevice}. A request that a tier does not accept at once, or
 * must not receive yet, waits in {@code waiting}, and each poll tries it again. Since tiers are added and removed, each
 * call loads the current list of tiers.
 */
public final class TieredHandle extends BaseHandle implements TierAccess.TierListener {

    private static final long NAP_NANOS = 20_000;
    /** To open a device may block, since far memory's session calls its servers. */
    private static final long FIRST_PAUSE_NANOS = 100_000_000;

    private static final long LONGEST_PAUSE_NANOS = 10_000_000_000L;

    private final TieredLog log;
    private final int requests;
    private final int readAlignment;
    private @Nullable Tiers seen;
    /** This handle's access to each tier, in the order of the tiers. */
    private TierAccess[] accesses = {};
    /** Whether one of them could not be opened, and when to try again. */
    private boolean unopened;

    private long openAgainAt = System.nanoTime() + FIRST_PAUSE_NANOS;
    private long pauseNanos = FIRST_PAUSE_NANOS;

    private final List<TierAccess> leaving = new ArrayList<>();
    private final SlotQueue waiting;
    private final SlotQueue ended;
    /**
     * Sets of tiers, as bits ({@code TierAccess.bit}). Of a read: the tiers that were asked. Of an append: the tiers
     * that have yet to accept it, to end it, to release it; and those that have it.
     */
    private final int[] asked;

    private final int[] toPost;
    private final int[] toEnd;
    private final int[] toRelease;
    private final int[] have;
    private final boolean[] told;
    private final boolean[] queued;
    /** An append's own number. For a sync, the number of the first append that it does not cover. */
    private final long[] number;
    /** The tiers at the time when the append was issued. */
    private final @Nullable Tiers[] tiers;

    private int calledBack;

    public TieredHandle(Device device, Registry registry, TieredLog log, int requests) {
        super(device, registry, requests);
        this.log = log;
        this.requests = requests;
        this.readAlignment = device.readAlignment();
        this.waiting = new SlotQueue(requests);
        this.ended = new SlotQueue(requests);
        this.asked = new int[requests];
        this.toPost = new int[requests];
        this.toEnd = new int[requests];
        this.toRelease = new int[requests];
        this.have = new int[requests];
        this.told = new boolean[requests];
        this.queued = new boolean[requests];
        this.number = new long[requests];
        this.tiers = new Tiers[requests];
        look();
    }

    /** Loads the current tiers, and opens accesses for new ones. */
    private Tiers look() {
        Tiers now = log.tiers();
        if (now != seen) {
            List<TierAccess> next = new ArrayList<>();
            for (Tier tier : now.all()) {
                TierAccess known = find(tier);
                next.add(known != null ? known : new TierAccess(log, tier, this, requests, readAlignment));
            }
            for (TierAccess access : accesses) {
                if (!next.contains(access)) {
                    leaving.add(access);
                }
            }
            accesses = next.toArray(TierAccess[]::new);
            seen = now;
            unopened = next.stream().anyMatch(access -> !access.open());
        }
        return now;
    }

    /**
     * Opens the tiers again whose devices could not be opened, for want of memory or since a server did not answer, but
     * only after a pause, which grows.
     */
    private void openAgain() {
        if (System.nanoTime() - openAgainAt < 0) {
            return;
        }
        unopened = false;
        for (int i = 0; i < accesses.length; i++) {
            TierAccess access = accesses[i];
            if (!access.open() && !isToPost(access.bit)) {
                accesses[i] = new TierAccess(log, access.tier, this, requests, readAlignment);
            }
            unopened |= !accesses[i].open();
        }
        openAgainAt = System.nanoTime() + pauseNanos;
        pauseNanos = Math.min(2 * pauseNanos, LONGEST_PAUSE_NANOS);
    }

    /** Whether an append waits to be sent to a tier: it is listed as pending with the access that the tier has. */
    private boolean isToPost(int bit) {
        for (int toTier : toPost) {
            if ((toTier & bit) != 0) {
                return true;
            }
        }
        return false;
    }

    private @Nullable TierAccess find(Tier tier) {
        for (TierAccess access : accesses) {
            if (access.tier == tier) {
                return access;
            }
        }
        return null;
    }

    // Appends

    @Override
    protected boolean append(
            long address, OwnedMemory source, long offset, long length, AppendCompletion completion, long token) {
        long end = address + length;
        long issued = log.issue(end);
        look();
        Tier last = accesses[accesses.length - 1].tier;
        for (int i = 0; i + 1 < accesses.length; i++) {
            if (!accesses[i].tier.mayGoOnTo(end, accesses[i + 1].tier, last)) {
                if (accesses[i].tier.hasOwedBy(accesses[i + 1].tier)) {
                    // The thread that copies it may not have been started, for want of memory.
                    log.owes();
                }
                return false;
            }
        }
        int slot = slots.take(RequestSlots.APPEND, address, source, offset, length, token);
        slots.appends[slot] = completion;
        if (address < log.begin()) {
            return endWith(slot, IoStatus.GONE);
        }
        number[slot] = issued;
        told[slot] = false;
        have[slot] = 0;
        slots.status[slot] = IoStatus.OK;
        tiers[slot] = announce(slot);
        for (TierAccess access : accesses) {
            if (!access.tier.takes(address, length)) {
                access.appends.remove(slot);
                toPost[slot] &= ~access.bit;
            }
        }
        toEnd[slot] = toPost[slot];
        toRelease[slot] = toPost[slot];
        if (!postAppend(slot)) {
            await(slot);
        }
        return true;
    }

    /**
     * Lists an append as pending at each tier. If a tier is added meanwhile, the thread that fills it sees the append
     * as pending, or the append is also sent to that tier.
     */
    private Tiers announce(int slot) {
        while (true) {
            Tiers now = look();
            toPost[slot] = 0;
            for (TierAccess access : accesses) {
                access.since[slot] = access.tier.debts.unlisted();
                access.appends.add(slot, slots.address[slot], slots.address[slot] + slots.length[slot], number[slot]);
                toPost[slot] |= access.bit;
            }
            if (log.tiers() == now) {
                return now;
            }
            for (TierAccess access : accesses) {
                access.appends.remove(slot);
            }
        }
    }

    /** @return whether all tiers have accepted it */
    private boolean postAppend(int slot) {
        long from = slots.address[slot];
        long to = from + slots.length[slot];
        for (int i = 0; toPost[slot] != 0 && i < accesses.length; i++) {
            TierAccess access = accesses[i];
            if ((toPost[slot] & access.bit) != 0
                    && access.open()
                    && !access.tier.pends(from, to, number[slot])
                    && access.append(slots, slot)) {
                toPost[slot] &= ~access.bit;
            }
        }
        return toPost[slot] == 0;
    }

    /** Gives up on tiers that were removed, or that cannot be used: they do not receive the append. */
    private void giveUp(int slot, int gone) {
        for (TierAccess access : accesses) {
            if ((gone & access.bit) != 0) {
                access.tier.passedBy(slots.address[slot], slots.length[slot]);
                log.owes();
                access.appends.remove(slot);
            }
        }
        toEnd[slot] &= ~gone;
        toRelease[slot] &= ~gone;
        try {
            tell(slot, IoStatus.LOST);
        } finally {
            releaseIfDone(slot);
        }
    }

    @Override
    public void appended(TierAccess from, int slot, int status) {
        toEnd[slot] &= ~from.bit;
        if (status == IoStatus.OK) {
            // The append is listed as pending here until the debt is removed, so a read that finds no debt waits.
            if (from.tier.wrote(slots.address[slot], slots.length[slot], from.since[slot])) {
                log.owes();
            }
            have[slot] |= from.bit;
        } else if (status != IoStatus.GONE) {
            from.tier.failed(slots.address[slot], slots.length[slot]);
            log.owes();
        }
        from.appends.remove(slot);
        tell(slot, status);
    }

    /**
     * Calls {@code appended} once the tiers up to the commit point have ended the append and one from the commit point
     * on has it, or once all tiers have ended it and none from the commit point on has it. In the latter case the
     * status is the first failure, even if a faster tier has the append; GONE is replaced by another tier's failure.
     */
    private void tell(int slot, int status) {
        Tiers at = tiers[slot];
        assert at != null;
        if (told[slot]) {
            return;
        }
        if (slots.status[slot] == IoStatus.OK || slots.status[slot] == IoStatus.GONE && status != IoStatus.OK) {
            slots.status[slot] = status;
        }
        int outcome = slots.status[slot];
        for (int i = 0; i < at.all().size(); i++) {
            int bit = 1 << at.all().get(i).id;
            if ((toEnd[slot] & bit) != 0) {
                return;
            }
            if (i >= at.commit() && (have[slot] & bit) != 0) {
                outcome = IoStatus.OK;
                break;
            }
        }
        told[slot] = true;
        calledBack++;
        if (outcome == IoStatus.OK) {
            log.wrote(slots.address[slot] + slots.length[slot]);
        }
        AppendCompletion completion = slots.appends[slot];
        assert completion != null;
        appended(completion, slots.token[slot], outcome);
    }

    @Override
    public void released(TierAccess from, int slot) {
        toRelease[slot] &= ~from.bit;
        releaseIfDone(slot);
    }

    private void releaseIfDone(int slot) {
        AppendCompletion completion = slots.appends[slot];
        if (toRelease[slot] == 0 && completion != null) {
            long token = slots.token[slot];
            tiers[slot] = null;
            slots.give(slot);
            released(completion, token);
        }
    }

    // Reads

    @Override
    protected boolean read(
            long address, OwnedMemory destination, long offset, long length, IoCompletion completion, long token) {
        Tiers now = look();
        int slot = slots.take(RequestSlots.READ, address, destination, offset, length, token);
        slots.completions[slot] = completion;
        asked[slot] = 0;
        slots.status[slot] = IoStatus.GONE;
        if (!postRead(now, slot)) {
            slots.give(slot);
            return false;
        }
        return true;
    }

    /**
     * Reads from the first tier that has the range and was not asked.
     *
     * @return false if that tier's handle is full
     */
    private boolean postRead(Tiers now, int slot) {
        long address = slots.address[slot];
        long length = slots.length[slot];
        for (int i = 0; i < accesses.length; i++) {
            TierAccess access = accesses[i];
            if ((asked[slot] & access.bit) != 0 || !access.open() || !access.tier.has(address, length)) {
                continue;
            }
            if (access.tier.lacks(address, address + length, i <= now.commit())) {
                await(slot);
                return true;
            }
            if (!access.read(slots, slot)) {
                return false;
            }
            asked[slot] |= access.bit;
            return true;
        }
        return endWith(slot, unfound(slot));
    }

    /** The status of a read that no tier can answer: LOST only if no tier may answer it another time. */
    private int unfound(int slot) {
        long address = slots.address[slot];
        long length = slots.length[slot];
        if (address < log.begin()) {
            return IoStatus.GONE;
        }
        if (mayPass(slots.status[slot])) {
            return slots.status[slot];
        }
        for (TierAccess access : accesses) {
            if (!access.open() && access.tier.has(address, length)) {
                return IoStatus.FAILED;
            }
        }
        boolean hole = accesses[accesses.length - 1].tier.misses(address, length);
        return hole ? IoStatus.LOST : slots.status[slot];
    }

    /** Whether a tier may answer a read that ended like this if it is asked another time. */
    private static boolean mayPass(int status) {
        return status != IoStatus.GONE && status != IoStatus.LOST;
    }

    @Override
    public void ended(TierAccess from, int slot, int status) {
        // Another tier has lost what this one could not read: it is not lost.
        if (slots.kind[slot] == RequestSlots.SYNC || status == IoStatus.OK || !mayPass(slots.status[slot])) {
            slots.status[slot] = status;
        }
        if (slots.kind[slot] == RequestSlots.SYNC) {
            end(slot);
            return;
        }
        if (status == IoStatus.OK) {
            from.arrived(slots, slot);
            end(slot);
            return;
        }
        if (status == IoStatus.LOST) {
            from.tier.lost.incrementAndGet();
            // A hole is a whole chunk. If another tier owes a part of it, that is copied first.
            if (!log.owesBeside(from.tier, slots.address[slot], slots.length[slot])) {
                from.tier.holes.add(slots.address[slot], slots.length[slot], from.tier.device.begin());
            }
        }
        await(slot);
    }

    // Syncs

    @Override
    protected boolean startSync(IoCompletion completion, long token) {
        int slot = slots.take(RequestSlots.SYNC, token);
        slots.completions[slot] = completion;
        number[slot] = log.nextNumber();
        look();
        if (!postSync(slot)) {
            await(slot);
        }
        return true;
    }

    private boolean postSync(int slot) {
        for (TierAccess access : accesses) {
            if (access.tier.original && access.tier.device.durable()) {
                if (access.tier.incomplete() || !access.open()) {
                    log.owes();
                    return endWith(slot, IoStatus.FAILED);
                }
                return !access.tier.pends(0, Long.MAX_VALUE, number[slot]) && access.sync(slot);
            }
        }
        return endWith(slot, IoStatus.OK);
    }

    // Progress

    private boolean endWith(int slot, int status) {
        slots.status[slot] = status;
        ended.add(slot);
        return true;
    }

    private void await(int slot) {
        if (!queued[slot]) {
            queued[slot] = true;
            waiting.add(slot);
        }
    }

    private void end(int slot) {
        calledBack++;
        finish(slot);
    }

    @Override
    protected int progress() {
        calledBack = 0;
        Tiers now = look();
        for (int count = waiting.size(); count > 0; count--) {
            retry(now, waiting.remove());
        }
        if (unopened) {
            openAgain();
        }
        for (TierAccess access : accesses) {
            access.poll();
        }
        if (!leaving.isEmpty()) {
            pollLeaving();
        }
        while (!ended.isEmpty()) {
            end(ended.remove());
        }
        return calledBack;
    }

    private void retry(Tiers now, int slot) {
        queued[slot] = false;
        switch (slots.kind[slot]) {
            case RequestSlots.APPEND -> retryAppend(slot);
            case RequestSlots.READ -> {
                if (!postRead(now, slot)) {
                    await(slot);
                }
            }
            default -> {
                if (!postSync(slot)) {
                    await(slot);
                }
            }
        }
    }

    private void retryAppend(int slot) {
        if (postAppend(slot)) {
            return;
        }
        int open = 0;
        for (TierAccess access : accesses) {
            open |= access.open() ? access.bit : 0;
        }
        int gone = toPost[slot] & ~open;
        toPost[slot] &= open;
        if (toPost[slot] != 0) {
            await(slot);
        }
        if (gone != 0) {
            giveUp(slot, gone);
        }
    }

    private void pollLeaving() {
        for (TierAccess access : List.copyOf(leaving)) {
            access.poll();
            if (access.pending() == 0) {
                leaving.remove(access);
                access.close();
            }
        }
    }

    @Override
    protected void sleep() {
        if (!ended.isEmpty()) {
            return;
        }
        TierAccess only = null;
        int busy = waiting.isEmpty() ? 0 : 2;
        for (TierAccess access : accesses) {
            if (access.pending() > 0) {
                only = access;
                busy++;
            }
        }
        if (busy == 1 && only != null && leaving.isEmpty()) {
            only.await();
        } else {
            // There is no single event to wait for if several tiers have requests.
            Uninterruptibles.parkNanos(this, NAP_NANOS);
        }
    }

    @Override
    protected void released() {
        for (TierAccess access : accesses) {
            access.release();
        }
        leaving.forEach(TierAccess::release);
    }

    @Override
    protected void end() {
        List<AutoCloseable> all = new ArrayList<>(leaving);
        all.addAll(List.of(accesses));
        Closeables.all(all);
    }
}
