package io.farheap.testing;

import io.farheap.verbs.Context;
import io.farheap.verbs.Devices;
import io.farheap.verbs.VerbsLibrary;
import java.util.function.BooleanSupplier;

/** Things of the device and the machine that a test may need. */
public enum Need {
    SOFTVERBS(
            "needs softverbs: it switches the device's faults, delays or settings",
            () -> Devices.library() == VerbsLibrary.SOFT),
    SYSTEM(
            "needs a real or a kernel device: it tests what the system's libibverbs does",
            () -> Devices.library() == VerbsLibrary.SYSTEM),
    ATOMICS("needs a device with atomics", Need::atomics),
    TWO_DEVICES("needs two devices with active ports, one for servers and one for clients", Need::twoDevices),
    LATE_OPERATIONS(
            "needs operations to be late: on softverbs, or on the guest's two devices",
            () -> Devices.library() == VerbsLibrary.SOFT || TestDevice.inGuest() && twoDevices()),
    GUEST(
            "needs the guest: as root, it changes the devices, links or limits of the machine (./farheap test --device rxe)",
            TestDevice::inGuest),
    HOST(
            "needs a processor at full speed: it measures, or counts what compiled code does",
            () -> !TestDevice.inGuest());

    private final String reason;
    private final BooleanSupplier met;

    Need(String reason, BooleanSupplier met) {
        this.reason = reason;
        this.met = met;
    }

    String reason() {
        return reason;
    }

    boolean met() {
        return met.getAsBoolean();
    }

    private static boolean twoDevices() {
        return !TestDevice.client().equals(TestDevice.server());
    }

    private static boolean atomics() {
        try (Context context = Devices.open(TestDevice.server())) {
            return context.limits().atomics();
        }
    }
}
