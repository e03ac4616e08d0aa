package io.farheap.manager.service.grant;

import io.farheap.control.CacheGrant;
import io.farheap.control.ManagerKey;
import io.farheap.control.SignedGrant;
import io.farheap.manager.Allocation;
import io.farheap.manager.Reclaim;
import io.farheap.manager.RegionShare;
import java.security.KeyPair;
import java.security.PrivateKey;
import java.security.PublicKey;
import java.security.interfaces.EdECPrivateKey;
import java.security.spec.NamedParameterSpec;
import java.util.List;
import org.bouncycastle.crypto.params.Ed25519PrivateKeyParameters;
import org.bouncycastle.crypto.signers.Ed25519Signer;

/**
 * Signs the grants of a leading manager, when they are on disk and are sent to a client. A signature takes tens of
 * microseconds, and is made without any lock. Thread-safe.
 *
 * <p>The signatures are made by Bouncy Castle, which has a table of multiples of Ed25519's base point: the JDK's own
 * implementation takes 20 times as long, and so more than all other work of an allocation. Both make the same
 * signatures; servers check them with the JDK's.
 */
public final class GrantSigner {

    private final Ed25519PrivateKeyParameters key;
    private final long epoch;
    private final GrantClock clock;
    private final PublicKey publicKey;

    /**
     * @param keys for Ed25519
     * @param epoch of the manager's store
     */
    public GrantSigner(KeyPair keys, long epoch, GrantClock clock) {
        this.key = key(keys.getPrivate());
        this.epoch = epoch;
        this.clock = clock;
        this.publicKey = keys.getPublic();
    }

    private static Ed25519PrivateKeyParameters key(PrivateKey key) {
        if (key instanceof EdECPrivateKey edwards
                && edwards.getParams().getName().equals(NamedParameterSpec.ED25519.getName())) {
            return new Ed25519PrivateKeyParameters(edwards.getBytes().orElseThrow());
        }
        throw new IllegalArgumentException("a private key for " + key.getAlgorithm() + ", and not for Ed25519");
    }

    private byte[] signature(byte[] content) {
        Ed25519Signer signer = new Ed25519Signer();
        signer.init(true, key);
        signer.update(content, 0, content.length);
        return signer.generateSignature();
    }

    /** Returns the key that a server receives with each answer to its report. */
    public ManagerKey managerKey() {
        return new ManagerKey(epoch, publicKey, clock.getAsLong());
    }

    public Allocation sign(Allocation allocation) {
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

    public Reclaim sign(Reclaim alert) {
        return new Reclaim(
                alert.cacheId(),
                alert.generation(),
                alert.reason(),
                alert.server(),
                alert.withinMillis(),
                sign(alert.targets()));
    }

    private List<RegionShare> sign(List<RegionShare> shares) {
        return shares.stream().map(this::sign).toList();
    }

    private RegionShare sign(RegionShare share) {
        if (share.grant().isNone()) {
            return share;
        }
        CacheGrant grant = share.grant().grant().given(epoch, clock.getAsLong() + CacheGrant.MOST_MILLIS);
        return new RegionShare(share.address(), share.regions(), SignedGrant.sign(grant, this::signature));
    }
}
