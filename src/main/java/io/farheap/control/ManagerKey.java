package io.farheap.control;

import java.security.GeneralSecurityException;
import java.security.KeyFactory;
import java.security.PublicKey;
import java.security.spec.X509EncodedKeySpec;

/**
 * The key of a memory server's manager: grants that it has signed are valid, in its epoch.
 *
 * @param epoch of the manager; the highest epoch counts
 * @param key the public key
 * @param millis the manager's clock now, in milliseconds since 1970
 */
public record ManagerKey(long epoch, PublicKey key, long millis) {

    /**
     * Reads a key.
     *
     * @param encoded the key in X.509 encoding
     * @throws IllegalArgumentException if it is not a key
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
