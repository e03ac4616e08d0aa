package io.farheap.verbs;

import io.farheap.posix.Posix;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;

/**
 * The place of a process, as far as softverbs depends on it: softverbs reaches processes of one user, on one host, in
 * one pid namespace and one network namespace. The device itself cannot tell a process outside of these from one that
 * has ended.
 *
 * @param user the effective user id
 * @param host a hash of the host's boot id and the two namespaces; 0 if it is not known, or the device is another one
 */
record SoftverbsPlace(int user, long host) {

    /** A place that is not known: a connection to or from it is not checked. */
    static final SoftverbsPlace UNKNOWN = new SoftverbsPlace(0, 0);

    private static final class CurrentProcess {
        private static final SoftverbsPlace PLACE = look();
    }

    /** The place of this process, on a device of this library. */
    static SoftverbsPlace own(VerbsLibrary library) {
        return library == VerbsLibrary.SOFT ? CurrentProcess.PLACE : UNKNOWN;
    }

    /**
     * @param other the place of the peer's process
     * @param peer the peer's name, for the message
     * @throws VerbsException if a process there cannot be reached from here
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
                // splitmix64's mixing, so that neighbouring inode numbers give distant hashes.
                hash = (hash ^ host.charAt(i)) * 0xBF58476D1CE4E5B9L;
                hash ^= hash >>> 31;
            }
            return new SoftverbsPlace(Posix.effectiveUser(), hash);
        } catch (IOException e) {
            return UNKNOWN;
        }
    }
}
