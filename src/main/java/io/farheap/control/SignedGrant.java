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

    /** For servers that have no manager, and so ask for none. */
    public static final SignedGrant NONE = new SignedGrant(new byte[0]);

    public static final String ALGORITHM = "Ed25519";

    /** More than a grant has: more is not taken. */
    public static final int MAX_BYTES = 256;

    private static final int SIGNATURE_BYTES = 64;

    private final byte[] bytes;

    private SignedGrant(byte[] bytes) {
        this.bytes = bytes;
    }

    /**
     * As it came from a peer; nothing of it has been looked at.
     *
     * @throws IllegalArgumentException it is too long for one
     */
    public static SignedGrant of(byte[] bytes) {
        if (bytes.length > MAX_BYTES) {
            throw new IllegalArgumentException("a grant of " + bytes.length + " bytes; it has at most " + MAX_BYTES);
        }
        return bytes.length == 0 ? NONE : new SignedGrant(bytes.clone());
    }

    /** As a manager has it until it is signed; no server takes it. */
    public static SignedGrant unsigned(CacheGrant grant) {
        return join(new byte[SIGNATURE_BYTES], grant.encode());
    }

    private static SignedGrant join(byte[] signature, byte[] content) {
        byte[] bytes = Arrays.copyOf(signature, signature.length + content.length);
        System.arraycopy(content, 0, bytes, signature.length, content.length);
        return new SignedGrant(bytes);
    }

    /** @throws IllegalArgumentException the key is none for Ed25519 */
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

    /** @param signer the Ed25519 signature of some bytes, which it leaves as they are */
    public static SignedGrant sign(CacheGrant grant, UnaryOperator<byte[]> signer) {
        byte[] content = grant.encode();
        byte[] signature = signer.apply(content);
        if (signature.length != SIGNATURE_BYTES) {
            throw new IllegalArgumentException("a signature of " + signature.length + " bytes");
        }
        return join(signature, content);
    }

    /**
     * What is granted, as anybody may have written it: {@link #isSignedBy} says who has.
     *
     * @throws IllegalArgumentException it is no grant
     */
    public CacheGrant grant() {
        if (bytes.length < SIGNATURE_BYTES) {
            throw new IllegalArgumentException(bytes.length + " bytes; a signature alone has " + SIGNATURE_BYTES);
        }
        return CacheGrant.decode(content());
    }

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

    public boolean isNone() {
        return bytes.length == 0;
    }

    /** For the wire; empty for {@link #NONE}. */
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
