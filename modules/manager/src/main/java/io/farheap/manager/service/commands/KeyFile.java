package io.farheap.manager.service.commands;

import io.farheap.control.SignedGrant;
import io.farheap.manager.state.StateException;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.attribute.PosixFilePermissions;
import java.security.GeneralSecurityException;
import java.security.KeyFactory;
import java.security.KeyPair;
import java.security.KeyPairGenerator;
import java.security.spec.PKCS8EncodedKeySpec;
import java.security.spec.X509EncodedKeySpec;
import java.util.Base64;
import java.util.List;

/**
 * A manager's keys, in a file {@code grants.key} of its directory that only its owner may read: the private half in
 * PKCS 8 and the public half in X.509, each as a line of Base64.
 */
public final class KeyFile {

    private static final String NAME = "grants.key";

    private KeyFile() {}

    /**
     * Reads the keys; creates the file if it does not exist.
     *
     * @throws StateException if it cannot be read or written, or holds no keys
     */
    public static KeyPair read(Path directory) {
        Path file = directory.resolve(NAME);
        try {
            return Files.exists(file) ? decode(Files.readAllLines(file)) : make(file);
        } catch (IOException | GeneralSecurityException | IllegalArgumentException e) {
            throw new StateException(
                    "cannot use the manager's keys in " + file + " (" + e
                            + "): make it readable for this user, or remove it, and the next start makes another",
                    e);
        }
    }

    private static KeyPair make(Path file) throws IOException, GeneralSecurityException {
        KeyPair keys = KeyPairGenerator.getInstance(SignedGrant.ALGORITHM).generateKeyPair();
        Base64.Encoder encoder = Base64.getEncoder();
        String text = encoder.encodeToString(keys.getPrivate().getEncoded()) + "\n"
                + encoder.encodeToString(keys.getPublic().getEncoded()) + "\n";
        // Only its owner can ever read it, and it is renamed when it is complete, so that no process reads half of it.
        Path written = file.resolveSibling(NAME + ".new");
        Files.deleteIfExists(written);
        Files.createFile(written, PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rw-------")));
        Files.write(written, text.getBytes(StandardCharsets.US_ASCII));
        Files.move(written, file, StandardCopyOption.ATOMIC_MOVE);
        return keys;
    }

    private static KeyPair decode(List<String> lines) throws GeneralSecurityException {
        if (lines.size() != 2) {
            throw new IllegalArgumentException(lines.size() + " lines, not 2");
        }
        Base64.Decoder decoder = Base64.getDecoder();
        KeyFactory factory = KeyFactory.getInstance(SignedGrant.ALGORITHM);
        return new KeyPair(
                factory.generatePublic(new X509EncodedKeySpec(decoder.decode(lines.get(1)))),
                factory.generatePrivate(new PKCS8EncodedKeySpec(decoder.decode(lines.get(0)))));
    }
}
