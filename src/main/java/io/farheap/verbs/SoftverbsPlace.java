package io.farheap.verbs;

import io.farheap.posix.Posix;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;

/**
 * Where a process is, as far as softverbs minds: it reaches those of one user, on one host, in one pid and one network
 * namespace. The device itself cannot tell such a process from one that is gone.
 *
 * @param user effective
 * @param host a number of the host since it has booted and of the two namespaces; 0 where that is not known, or the
 *     device is another one
 */
public record SoftverbsPlace(int user, long host) {

    public static final SoftverbsPlace UNKNOWN = new SoftverbsPlace(0, 0);

    private static final class CurrentProcess {
        private static final SoftverbsPlace PLACE = look();
    }

    /** This process's, on a device of this library. */
    static SoftverbsPlace own(VerbsLibrary library) {
        return library == VerbsLibrary.SOFT ? CurrentProcess.PLACE : UNKNOWN;
    }

    /**
     * @param other where the peer's process is
     * @param peer for the message
     * @throws VerbsException where a process there cannot be reached from here
     */
    void checkReaches(SoftverbsPlace other, String peer) {
        if (host == 0 || other.host == 0) {
            return;
        }
        if (host != other.host) {
            throw new VerbsException(
                    "cannot reach " + peer + ": softverbs reaches processes of one host, in one pid and "
                            + "one network namespace, and this one and that are not in the same, such as two "
                            + "containers; let them share these, or use a real device (-D" + VerbsLibrary.PROPERTY
                            + "=system)");
        }
        if (user != other.user) {
            throw new VerbsException("cannot reach " + peer
                    + ": softverbs reaches processes of one user, and that is user "
                    + Integer.toUnsignedString(other.user) + "'s, and this one user " + Integer.toUnsignedString(user)
                    + "'s; run both as one user, or use a real device (-D" + VerbsLibrary.PROPERTY + "=system)");
        }
    }

    private static SoftverbsPlace look() {
        try {
            String host = Files.readString(Path.of("/proc/sys/kernel/random/boot_id"))
                    + Files.readSymbolicLink(Path.of("/proc/self/ns/pid"))
                    + Files.readSymbolicLink(Path.of("/proc/self/ns/net"));
            long hash = 0;
            for (int i = 0; i < host.length(); i++) {
                // Of splitmix64: near inodes are to be far numbers.
                hash = (hash ^ host.charAt(i)) * 0xBF58476D1CE4E5B9L;
                hash ^= hash >>> 31;
            }
            return new SoftverbsPlace(Posix.effectiveUser(), hash);
        } catch (IOException e) {
            return UNKNOWN;
        }
    }
}
