package io.farheap.manager.service;

import com.google.protobuf.ByteString;
import io.farheap.control.CacheGrant;
import io.farheap.control.SignedGrant;
import io.farheap.manager.Allocation;
import io.farheap.manager.Reclaim;
import io.farheap.manager.Share;
import io.farheap.manager.wire.ReportReceipt;
import java.security.KeyPair;
import java.util.List;
import java.util.function.LongSupplier;

/**
 * Signs what a leading manager grants, when that is on disk and goes to a client; a signature takes tens of
 * microseconds, and is made without any lock. Thread-safe.
 */
public final class GrantSigner {

    private final KeyPair keys;
    private final long epoch;
    private final LongSupplier millis;
    private final ByteString publicKey;

    /**
     * @param epoch of the manager's store
     * @param millis the time of day
     */
    public GrantSigner(KeyPair keys, long epoch, LongSupplier millis) {
        this.keys = keys;
        this.epoch = epoch;
        this.millis = millis;
        this.publicKey = ByteString.copyFrom(keys.getPublic().getEncoded());
    }

    /** What a server learns with each report. */
    ReportReceipt receipt() {
        return ReportReceipt.newBuilder()
                .setEpoch(epoch)
                .setKey(publicKey)
                .setMillis(millis.getAsLong())
                .build();
    }

    Allocation sign(Allocation allocation) {
        return new Allocation(
                allocation.cacheId(),
                allocation.generation(),
                allocation.capacity(),
                allocation.regionBytes(),
                allocation.candidate(),
                sign(allocation.shares()),
                sign(allocation.reserved()),
                allocation.left());
    }

    Reclaim sign(Reclaim alert) {
        return new Reclaim(
                alert.cacheId(),
                alert.generation(),
                alert.reason(),
                alert.server(),
                alert.withinMillis(),
                sign(alert.targets()));
    }

    private List<Share> sign(List<Share> shares) {
        return shares.stream().map(this::sign).toList();
    }

    private Share sign(Share share) {
        if (share.grant().isNone()) {
            return share;
        }
        CacheGrant grant = share.grant().grant().given(epoch, millis.getAsLong() + CacheGrant.MOST_MILLIS);
        return new Share(share.address(), share.regions(), SignedGrant.sign(grant, keys.getPrivate()));
    }
}
