package io.farheap.control;

import java.security.GeneralSecurityException;
import java.security.KeyFactory;
import java.security.PublicKey;
import java.security.spec.X509EncodedKeySpec;

/**
 * What a memory server learns from its manager: whose grants count, and since when.
 *
 * @param epoch of the manager; the highest counts
 * @param key its public half
 * @param millis the manager's clock now, in milliseconds since 1970
 */
public record ManagerKey(long epoch, PublicKey key, long millis) {

    /**
     * @param encoded the key, as X.509 has it
     * @throws IllegalArgumentException it is no key
     */
    public static ManagerKey of(long epoch, byte[] encoded, long millis) {
        try {
            PublicKey key =
                    KeyFactory.getInstance(SignedGrant.ALGORITHM).generatePublic(new X509EncodedKeySpec(encoded));
            return new ManagerKey(epoch, key, millis);
        } catch (GeneralSecurityException e) {
            throw new IllegalArgumentException("no public key of a manager: " + e.getMessage(), e);
        }
    }
}
