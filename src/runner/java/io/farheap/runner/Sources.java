package io.farheap.runner;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.List;
import java.util.Set;
import java.util.stream.Stream;

/**
 * A checksum of all files of a checkout that a test may read: what Git knows or would add; without Git, all that no
 * build makes.
 */
final class Sources {

    private static final Set<String> LEFT_OUT = Set.of(".git", "target", "build");

    private Sources() {}

    /** SHA-256 over names, whether they can be executed, and contents. */
    static String checksum(Path root) {
        try {
            MessageDigest digest = MessageDigest.getInstance("SHA-256");
            for (Path file : files(root)) {
                if (!Files.exists(file)) {
                    continue;
                }
                String name = root.relativize(file) + (Files.isExecutable(file) ? "*" : "");
                digest.update(name.getBytes(StandardCharsets.UTF_8));
                digest.update((byte) 0);
                byte[] content = Files.readAllBytes(file);
                digest.update((content.length + "\n").getBytes(StandardCharsets.UTF_8));
                digest.update(content);
            }
            return HexFormat.of().formatHex(digest.digest());
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        } catch (NoSuchAlgorithmException e) {
            throw new AssertionError(e);
        }
    }

    private static List<Path> files(Path root) throws IOException {
        if (Files.exists(root.resolve(".git"))) {
            Process git = new ProcessBuilder("git", "ls-files", "-z", "--cached", "--others", "--exclude-standard")
                    .directory(root.toFile())
                    .redirectError(ProcessBuilder.Redirect.DISCARD)
                    .start();
            String names = new String(git.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
            if (!names.isEmpty()) {
                return Arrays.stream(names.split("\0"))
                        .sorted()
                        .distinct()
                        .map(root::resolve)
                        .filter(Files::isRegularFile)
                        .toList();
            }
        }
        try (Stream<Path> all = Files.walk(root)) {
            return all.filter(Files::isRegularFile)
                    .filter(file -> {
                        for (Path part : root.relativize(file)) {
                            if (LEFT_OUT.contains(part.toString())) {
                                return false;
                            }
                        }
                        return true;
                    })
                    .sorted()
                    .toList();
        }
    }
}
