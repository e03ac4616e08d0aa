package io.farheap.control;

import io.farheap.control.text.PrintableText;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;

/** The key of a shared space: its name, which is public, and its token, which is secret. Immutable. */
public final class SpaceKey {

    /** The most characters of a name. */
    public static final int MAX_NAME_LENGTH = 128;

    /** The least length of a token, in bytes. */
    public static final int MIN_TOKEN_BYTES = 8;
    /** The greatest length of a token, in bytes. */
    public static final int MAX_TOKEN_BYTES = 64;

    private final String name;
    private final byte[] token;

    /**
     * @param name 1 to {@value #MAX_NAME_LENGTH} printable characters
     * @param token {@value #MIN_TOKEN_BYTES} to {@value #MAX_TOKEN_BYTES} bytes; random ones, since only the token
     *     protects the space
     * @throws IllegalArgumentException with the wrong value and its limit, but without the token
     */
    public SpaceKey(String name, byte[] token) {
        if (name.isEmpty()) {
            throw new IllegalArgumentException("an empty name of a space; it has 1 to " + MAX_NAME_LENGTH
                    + " characters, so choose one that people can tell from others");
        }
        this.name = PrintableText.require("a name of a space", name, MAX_NAME_LENGTH);
        if (token.length < MIN_TOKEN_BYTES || token.length > MAX_TOKEN_BYTES) {
            throw new IllegalArgumentException("a space's token of " + token.length + " bytes; it has "
                    + MIN_TOKEN_BYTES + " to " + MAX_TOKEN_BYTES + ", so take 16 random ones");
        }
        this.token = token.clone();
    }

    /** A key whose token is a text: its bytes in UTF-8. */
    public static SpaceKey of(String name, String token) {
        return new SpaceKey(name, token.getBytes(StandardCharsets.UTF_8));
    }

    /** The space's name. */
    public String name() {
        return name;
    }

    /** A copy. */
    public byte[] token() {
        return token.clone();
    }

    /** The hash that a server keeps instead of the token. */
    public byte[] tokenHash() {
        try {
            return MessageDigest.getInstance("SHA-256").digest(token);
        } catch (NoSuchAlgorithmException e) {
            throw new IllegalStateException("every JDK has SHA-256", e);
        }
    }

    /** The name only, since this may be written to a log. */
    @Override
    public String toString() {
        return name;
    }
}
