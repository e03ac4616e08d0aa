package io.farheap.verbs;

import io.farheap.lifetime.CloseStack;
import io.farheap.verbs.binding.ibverbs;
import java.util.ArrayList;
import java.util.List;
import java.util.StringJoiner;
import java.util.function.Function;
import org.bytedeco.javacpp.Pointer;
import org.jspecify.annotations.Nullable;

/** The devices of the verbs library in use. Any thread may call. */
public final class Devices {

    private Devices() {}

    /** Which library is in use: {@link VerbsLibrary#SYSTEM} or {@link VerbsLibrary#SOFT}. Loads it on first use. */
    public static VerbsLibrary library() {
        return VerbsLibrary.load(Devices::whyNotSystem);
    }

    /**
     * The devices now, whether they serve or not. Loads the library on first use.
     *
     * @throws VerbsException if the library cannot be loaded, or the kernel has no RDMA
     */
    public static List<DeviceInfo> list() {
        VerbsLibrary _ = library();
        return loadedList();
    }

    private static List<DeviceInfo> loadedList() {
        List<DeviceInfo> devices = new ArrayList<>();
        forEach((device, info) -> {
            devices.add(info);
            return false;
        });
        return devices;
    }

    private static List<String> names() {
        return loadedList().stream().map(DeviceInfo::name).toList();
    }

    /**
     * Opens the first device that serves: one that opens, is InfiniBand or RoCE, has an active port, and supports
     * reliable connections.
     *
     * @throws VerbsException if there is none, with the reason for each device
     */
    public static Context open() {
        return open(PortOptions.DEFAULT);
    }

    private static Context openFirst(PortOptions options) {
        VerbsLibrary library = library();
        // Outside of the block: a list that cannot be read has the same remedy in its message.
        List<String> names = names();
        try {
            return first(names, name -> openServing(library, options.device(name)));
        } catch (VerbsException e) {
            if (e.isOfSetting()) {
                throw e;
            }
            throw new VerbsException(
                    e.getMessage() + "; or use the software device with -D" + VerbsLibrary.PROPERTY + "=soft");
        }
    }

    /**
     * Tries each name until one serves.
     *
     * @param open opens a device, or throws a {@link VerbsException} that names it and says why it does not serve
     * @throws VerbsException if none serves, with the reason for each; at once if a setting is wrong
     */
    static <T> T first(List<String> names, Function<String, T> open) {
        StringJoiner reasons = new StringJoiner("; ");
        reasons.setEmptyValue("there is none");
        boolean ofAddress = false;
        for (String name : names) {
            try {
                return open.apply(name);
            } catch (VerbsException e) {
                if (e.isOfSetting()) {
                    throw e;
                }
                ofAddress |= e.isOfAddress();
                reasons.add(e.getMessage());
            }
        }
        String message = "no RDMA device serves: " + reasons;
        throw ofAddress ? VerbsException.ofAddress(message) : new VerbsException(message);
    }

    /** Null if a device of the system's library serves, else the reasons. */
    private static @Nullable String whyNotSystem() {
        KernelDevices machine = KernelDevices.MACHINE;
        return whyNot(machine.names(), name -> {
            machine.requireUsable(name);
            VerbsLibrary.requireSystem();
            openServing(VerbsLibrary.SYSTEM, PortOptions.of(name)).close();
            return name;
        });
    }

    /**
     * Null if a device serves, or would but for a setting or for an address that may come: a process that moved to the
     * software device for that would not be reached from other machines. Else the reasons.
     *
     * @param open as {@link #first}'s
     */
    static @Nullable String whyNot(List<String> names, Function<String, String> open) {
        try {
            String _ = first(names, open);
            return null;
        } catch (VerbsException e) {
            return e.isOfAddress() || e.isOfSetting() ? null : e.getMessage();
        }
    }

    /** Opens a device of a loaded library, if it serves. A software device always serves, and so is not tried. */
    private static Context openServing(VerbsLibrary library, PortOptions options) {
        if (library == VerbsLibrary.SYSTEM) {
            KernelDevices.MACHINE.requireTransport(options.deviceName());
        }
        try (CloseStack stack = new CloseStack()) {
            Context context = stack.add(open(library, options));
            PortInfo _ = context.requireActivePort();
            if (library == VerbsLibrary.SYSTEM) {
                requireReliableConnections(context);
            }
            stack.keep();
            return context;
        }
    }

    private static void requireReliableConnections(Context context) {
        try (ProtectionDomain domain = context.allocateProtectionDomain();
                CompletionQueue completions = context.createCompletionQueue(1, 1, null);
                QueuePair _ = domain.createQueuePair(completions, 1, 0)) {
            // It is enough that the device can make a queue pair.
        } catch (IllegalArgumentException e) {
            throw new VerbsException(String.valueOf(e.getMessage()));
        }
    }

    /**
     * Opens a device by name, {@code NAME} or {@code NAME:PORT}; an empty name opens the {@linkplain #open() first that
     * serves}.
     *
     * @throws VerbsException if there is no such device or port, or it cannot be opened
     * @throws IllegalArgumentException if it is no such name
     */
    public static Context open(String name) {
        return open(PortOptions.of(name));
    }

    /**
     * Opens the device that the options name, or the {@linkplain #open() first that serves}.
     *
     * @throws VerbsException if there is no such device or port, or it cannot be opened
     */
    public static Context open(PortOptions options) {
        return options.deviceName().isEmpty() ? openFirst(options) : open(library(), options);
    }

    private static Context open(VerbsLibrary library, PortOptions options) {
        String name = options.deviceName();
        Context[] opened = new Context[1];
        forEach((device, info) -> {
            if (!info.name().equals(name)) {
                return false;
            }
            var context = ibverbs.farheap_open_device(device);
            if (context == null) {
                int errno = NativePointers.errno();
                throw library == VerbsLibrary.SYSTEM
                        ? KernelDevices.MACHINE.cannotOpen(name, errno)
                        : new VerbsException("cannot open device " + name, errno);
            }
            opened[0] = new Context(info, library, context, options);
            return true;
        });
        if (opened[0] == null) {
            throw new VerbsException("no device " + name + "; there are " + names());
        }
        return opened[0];
    }

    private interface Visitor {
        boolean visit(Pointer device, DeviceInfo info);
    }

    private static void forEach(Visitor visitor) {
        int[] count = new int[1];
        Pointer devices = ibverbs.farheap_get_device_list(count);
        if (devices == null) {
            throw new VerbsException(
                    "cannot list RDMA devices (is the kernel's RDMA loaded? modprobe ib_uverbs); without a NIC use the "
                            + "software device with -D" + VerbsLibrary.PROPERTY + "=soft",
                    NativePointers.errno());
        }
        try {
            for (int i = 0; i < count[0]; i++) {
                Pointer device = ibverbs.farheap_device_at(devices, i);
                String name = ibverbs.farheap_get_device_name(device).getString();
                if (visitor.visit(device, new DeviceInfo(name, ibverbs.farheap_get_device_guid(device)))) {
                    return;
                }
            }
        } finally {
            ibverbs.farheap_free_device_list(devices);
        }
    }
}
