package io.farheap.verbs;

import io.farheap.posix.FileNames;
import io.farheap.posix.Posix;
import io.farheap.verbs.binding.ibverbs;
import java.io.File;
import java.io.IOException;
import java.net.MalformedURLException;
import java.net.URL;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.function.Supplier;
import org.bytedeco.javacpp.BytePointer;
import org.bytedeco.javacpp.Loader;
import org.bytedeco.javacpp.Pointer;
import org.jspecify.annotations.Nullable;

/**
 * The libibverbs that this process uses. It is chosen once, by the system property {@code farheap.verbs} or by
 * {@link #choose} before the first device is listed.
 */
public enum VerbsLibrary {

    /** The installed libibverbs: a real device, or the kernel's soft-RoCE. The library's default. */
    SYSTEM,
    /** softverbs, the RDMA device in a library: processes of one host, no NIC, no privilege. */
    SOFT,
    /**
     * {@link #SYSTEM} if this process can use a device of it: the device's node opens, it is InfiniBand or RoCE, has an
     * active port, and supports reliable connections; also if only an address is missing, or a setting of the device is
     * wrong, which is an error then. Else {@link #SOFT}, and {@link #whySoft} returns the reason. The command line's
     * default.
     */
    AUTO;

    /** The system property that names the library: {@code system}, {@code soft} or {@code auto}, in any case. */
    public static final String PROPERTY = "farheap.verbs";

    /**
     * The most copies of a file. An undeployed class loader's copy becomes free when that loader has been collected.
     */
    private static final int MOST_LOADERS = 63;

    private static final String BINDING_PATH = "io/farheap/verbs/";
    /**
     * Not the name by which JavaCPP would find the library: it would then try to extract it, and fail without a
     * writable cache.
     */
    private static final String BINDING = "farheap_binding";

    private static final String SYSTEM_SONAME = "libibverbs.so.1";

    private static @Nullable VerbsLibrary chosen;
    private static @Nullable VerbsLibrary loaded;
    private static @Nullable String whySoft;

    /**
     * Chooses the library, unless the system property does.
     *
     * @throws IllegalStateException if another one is in use already
     */
    public static synchronized void choose(VerbsLibrary library) {
        if (System.getProperty(PROPERTY) != null) {
            return;
        }
        if (loaded != null && library != AUTO && library != loaded) {
            throw new IllegalStateException(
                    "this process already uses the " + loaded + " verbs library; a process uses one");
        }
        chosen = library;
    }

    /**
     * Loads the chosen library, once.
     *
     * @param whyNotSystem tries the system's devices, for {@link #AUTO}: returns null if one serves, else the reason
     *     why none does; nothing of that library is then in use
     * @return {@link #SYSTEM} or {@link #SOFT}
     */
    static synchronized VerbsLibrary load(Supplier<@Nullable String> whyNotSystem) {
        if (loaded == null) {
            loadBinding();
            VerbsLibrary wanted = wanted();
            loaded = wanted == AUTO ? loadEither(whyNotSystem.get()) : load(wanted);
        }
        return loaded;
    }

    private static VerbsLibrary loadEither(@Nullable String why) {
        whySoft = why;
        if (why == null) {
            return load(SYSTEM);
        }
        ibverbs.farheap_verbs_forget();
        return load(SOFT);
    }

    /**
     * The reason why {@link #AUTO} chose softverbs, with the fault of each device; null if it did not, or nothing is
     * loaded yet.
     */
    public static synchronized @Nullable String whySoft() {
        return whySoft;
    }

    /**
     * The embedded softverbs library as a file, written on first use, beside JavaCPP's cache.
     *
     * @throws VerbsException if the jar has none for this platform, or there is no directory for it to which other
     *     users cannot write
     */
    public static File softLibrary() {
        Path file = extract(VerbsLibrary.class, "io/farheap/verbs/", "libsoftverbs.so");
        if (file == null) {
            throw new VerbsException("this jar has no softverbs for " + Loader.getPlatform()
                    + "; build it there (./farheap build), or use a real device with -D" + PROPERTY + "=system");
        }
        return file.toFile();
    }

    /** Null if there is no such library beside the class. */
    static @Nullable Path extract(Class<?> beside, String path, String library) {
        return extract(beside, path, library, 0);
    }

    private static @Nullable Path extract(Class<?> beside, String path, String library, int copy) {
        try {
            return EmbeddedLibrary.file(beside, path + Loader.getPlatform() + "/" + library, copy);
        } catch (IOException e) {
            throw new VerbsException(
                    "cannot extract " + library + " (" + e.getMessage() + "); set -D" + EmbeddedLibrary.PROPERTY
                            + "= to a directory that belongs to this user and that no other user may write to");
        }
    }

    private static VerbsLibrary wanted() {
        String property = System.getProperty(PROPERTY);
        if (property == null) {
            return chosen == null ? SYSTEM : chosen;
        }
        for (VerbsLibrary library : values()) {
            if (library.name().equalsIgnoreCase(property)) {
                return library;
            }
        }
        throw new VerbsException(PROPERTY + "=" + property + " is not one of system, soft, auto");
    }

    private static VerbsLibrary load(VerbsLibrary wanted) {
        if (wanted == SYSTEM) {
            requireSystem();
            return SYSTEM;
        }
        String error = open(FileNames.terminated(softLibrary().toPath()));
        if (error != null) {
            throw new VerbsException("cannot load softverbs: " + error + remedy(error));
        }
        return SOFT;
    }

    /** @throws VerbsException if the system's library cannot be loaded, or another is in use */
    static void requireSystem() {
        String error = open((SYSTEM_SONAME + '\0').getBytes(StandardCharsets.US_ASCII));
        if (error != null) {
            throw new VerbsException(
                    "no libibverbs (" + error + "): install it (apt-get install libibverbs1 ibverbs-providers),"
                            + " or choose the software device with -D" + PROPERTY + "=soft");
        }
    }

    private static void loadBinding() {
        try {
            requireOneLoader();
            // Before JavaCPP looks for them: it does not search for a library that is loaded already.
            try {
                load(Pointer.class, "org/bytedeco/javacpp/", "jnijavacpp", "jnijavacpp");
            } catch (UnsatisfiedLinkError e) {
                // JavaCPP's library needs a newer system than the binding, which contains all of it that Farheap uses.
                load(Pointer.class, BINDING_PATH, BINDING, "jnijavacpp");
            }
            load(ibverbs.class, BINDING_PATH, BINDING, "jniibverbs");
            Loader.load(ibverbs.class);
        } catch (UnsatisfiedLinkError e) {
            // JavaCPP's last attempt explains least; its cause is the attempt before.
            Throwable cause = e.getCause();
            String why = String.valueOf((cause == null ? e : cause).getMessage());
            throw new VerbsException("cannot load Farheap's native binding for " + Loader.getPlatform() + " (" + why
                    + ")" + remedy(why));
        } catch (IllegalCallerException e) {
            throw new VerbsException(Posix.NATIVE_ACCESS_HELP);
        } catch (ExceptionInInitializerError e) {
            Throwable cause = e.getCause();
            if (cause instanceof IllegalCallerException || cause instanceof UnsupportedOperationException) {
                throw new VerbsException(Posix.NATIVE_ACCESS_HELP);
            }
            throw e;
        }
    }

    /**
     * Loads the first copy of the file that no other class loader has loaded.
     *
     * @param name the name under which JavaCPP registers the library
     */
    private static void load(Class<?> beside, String path, String library, String name) {
        for (int copy = 0; ; copy++) {
            Path file = extract(beside, path, "lib" + library + ".so", copy);
            if (file == null) {
                throw new UnsatisfiedLinkError("there is no lib" + library + ".so beside the classes");
            }
            try {
                Loader.loadLibrary(beside, new URL[] {asJavaCppReads(file)}, name);
                return;
            } catch (UnsatisfiedLinkError e) {
                if (!isAnotherLoaders(e)) {
                    throw e;
                }
                if (copy == MOST_LOADERS) {
                    throw new VerbsException("lib" + library + ".so is in use by " + (copy + 1)
                            + " class loaders of this process, each with a copy, and there may be no more: keep "
                            + "Farheap's and JavaCPP's jars in one that all share, or end the undeployed applications");
                }
            } catch (MalformedURLException e) {
                throw new IllegalStateException(e);
            }
        }
    }

    /**
     * A URL from which JavaCPP gets the same file. The URL of {@link Path#toUri} has the name's bytes in the locale's
     * encoding, which JavaCPP would decode as UTF-8.
     */
    private static URL asJavaCppReads(Path file) throws MalformedURLException {
        return file.toFile().toURI().toURL();
    }

    private static boolean isAnotherLoaders(UnsatisfiedLinkError e) {
        for (Throwable one = e; one != null; one = one.getCause()) {
            if (String.valueOf(one.getMessage()).contains("already loaded in another classloader")) {
                return true;
            }
        }
        return false;
    }

    /** A remedy for an error of the loader; empty if none is known. */
    private static String remedy(String error) {
        if (error.contains("failed to map segment from shared object")) {
            return "; is its file system mounted noexec? Set -D" + EmbeddedLibrary.PROPERTY
                    + "= to a directory of a file system that is not";
        }
        if (error.contains("version `GLIBC")) {
            return "; this system's C library is older than " + Posix.OLDEST_GLIBC
                    + ", the oldest that Farheap runs on";
        }
        return error.contains("beside the classes")
                ? "; Farheap's jar has it for linux-x86_64 alone; build it here (./farheap build)"
                : "";
    }

    /**
     * JavaCPP resolves the classes that its native code names with its own class loader, so both must have the same
     * one.
     */
    private static void requireOneLoader() {
        if (Pointer.class.getClassLoader() != ibverbs.class.getClassLoader()) {
            throw new VerbsException(
                    "JavaCPP is in another class loader than Farheap, and then its native code finds no "
                            + "class of Farheap; have both jars in one");
        }
    }

    /**
     * @param name a path in the locale's bytes (JavaCPP would encode a string in UTF-8), or a file name that the
     *     dynamic loader searches for; terminated by a zero
     * @return null, or the reason why it cannot be loaded
     */
    private static @Nullable String open(byte[] name) {
        try (BytePointer bytes = new BytePointer(name)) {
            BytePointer error = ibverbs.farheap_verbs_load(bytes);
            return error == null || error.isNull() ? null : error.getString();
        }
    }
}
