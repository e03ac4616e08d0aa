package io.farheap.control;

import java.security.GeneralSecurityException;
import java.security.PrivateKey;
import java.security.PublicKey;
import java.security.Signature;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.function.UnaryOperator;
import org.jspecify.annotations.Nullable;

/** A {@link CacheGrant} with its manager's Ed25519 signature, as clients carry it; or {@link #NONE}. Immutable. */
public final class SignedGrant {

    /** For servers that have no manager, and so require no grant. */
    public static final SignedGrant NONE = new SignedGrant(new byte[0]);

    /** The signature's algorithm. */
    public static final String ALGORITHM = "Ed25519";

    /** Most bytes that are accepted; a grant has fewer. */
    public static final int MAX_BYTES = 256;

    private static final int SIGNATURE_BYTES = 64;

    private final byte[] bytes;

    private SignedGrant(byte[] bytes) {
        this.bytes = bytes;
    }

    /**
     * A signed grant as a peer sent it; nothing in it has been checked.
     *
     * @throws IllegalArgumentException if it is too long
     */
    public static SignedGrant of(byte[] bytes) {
        if (bytes.length > MAX_BYTES) {
            throw new IllegalArgumentException("a grant of " + bytes.length + " bytes; it has at most " + MAX_BYTES);
        }
        return bytes.length == 0 ? NONE : new SignedGrant(bytes.clone());
    }

    /** A grant before the manager has signed it; a server that requires grants refuses it. */
    public static SignedGrant unsigned(CacheGrant grant) {
        return join(new byte[SIGNATURE_BYTES], grant.encode());
    }

    private static SignedGrant join(byte[] signature, byte[] content) {
        byte[] bytes = Arrays.copyOf(signature, signature.length + content.length);
        System.arraycopy(content, 0, bytes, signature.length, content.length);
        return new SignedGrant(bytes);
    }

    /**
     * Signs a grant.
     *
     * @throws IllegalArgumentException if the key is not an Ed25519 key
     */
    public static SignedGrant sign(CacheGrant grant, PrivateKey key) {
        return sign(grant, content -> {
            try {
                Signature signature = Signature.getInstance(ALGORITHM);
                signature.initSign(key);
                signature.update(content);
                return signature.sign();
            } catch (GeneralSecurityException e) {
                throw new IllegalArgumentException("cannot sign a grant: " + e.getMessage(), e);
            }
        });
    }

    /**
     * Signs a grant.
     *
     * @param signer returns the Ed25519 signature of some bytes, which it does not change
     */
    public static SignedGrant sign(CacheGrant grant, UnaryOperator<byte[]> signer) {
        byte[] content = grant.encode();
        byte[] signature = signer.apply(content);
        if (signature.length != SIGNATURE_BYTES) {
            throw new IllegalArgumentException("a signature of " + signature.length + " bytes");
        }
        return join(signature, content);
    }

    /**
     * The grant, whose bytes any process may have written: {@link #isSignedBy} checks the signature.
     *
     * @throws IllegalArgumentException if it is not a grant
     */
    public CacheGrant grant() {
        if (bytes.length < SIGNATURE_BYTES) {
            throw new IllegalArgumentException(bytes.length + " bytes; a signature alone has " + SIGNATURE_BYTES);
        }
        return CacheGrant.decode(content());
    }

    /** Whether this key's private half has signed the grant. */
    public boolean isSignedBy(PublicKey key) {
        if (bytes.length < SIGNATURE_BYTES) {
            return false;
        }
        try {
            Signature signature = Signature.getInstance(ALGORITHM);
            signature.initVerify(key);
            signature.update(content());
            return signature.verify(bytes, 0, SIGNATURE_BYTES);
        } catch (GeneralSecurityException e) {
            return false;
        }
    }

    private byte[] content() {
        return Arrays.copyOfRange(bytes, SIGNATURE_BYTES, bytes.length);
    }

    /** Whether this is {@link #NONE}. */
    public boolean isNone() {
        return bytes.length == 0;
    }

    /** The bytes to send; empty for {@link #NONE}. */
    public byte[] bytes() {
        return bytes.clone();
    }

    @Override
    public boolean equals(@Nullable Object other) {
        return other instanceof SignedGrant grant && Arrays.equals(bytes, grant.bytes);
    }

    @Override
    public int hashCode() {
        return Arrays.hashCode(bytes);
    }

    @Override
    public String toString() {
        return isNone() ? "no grant" : "grant " + HexFormat.of().formatHex(bytes);
    }
}
