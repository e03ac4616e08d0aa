package io.farheap.cli;

import io.farheap.coding.CodingLibrary;
import io.farheap.command.AddressOptions;
import io.farheap.command.DeviceNotice;
import io.farheap.command.Sizes;
import io.farheap.command.Subcommand;
import io.farheap.verbs.Context;
import io.farheap.verbs.DeviceInfo;
import io.farheap.verbs.DeviceLimits;
import io.farheap.verbs.Devices;
import io.farheap.verbs.PortInfo;
import io.farheap.verbs.VerbsException;
import java.io.PrintWriter;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Spec;

/** Lists the RDMA devices that Farheap can use, as ibv_devinfo does. Exit code 1 if none has an active port. */
@Command(
        name = "devices",
        description = "List RDMA devices, their ports and limits.",
        mixinStandardHelpOptions = true,
        versionProvider = Main.Version.class)
public final class DevicesCommand implements Subcommand, Callable<Integer> {

    private static final int MAX_GIDS = 16;

    @Mixin
    private AddressOptions address = new AddressOptions();

    @Spec
    private CommandSpec spec;

    @Override
    public Integer call() {
        DeviceNotice.print(spec.commandLine().getErr());
        PrintWriter out = spec.commandLine().getOut();
        List<DeviceInfo> devices = Devices.list();
        boolean active = false;
        for (DeviceInfo device : devices) {
            try (Context context = Devices.open(address.port(device.name()))) {
                print(out, context);
                active |= context.activePort() != null;
            } catch (VerbsException e) {
                out.println(device.name() + "  " + e.getMessage());
            }
        }
        if (devices.isEmpty()) {
            out.println("no RDMA devices");
        }
        printCoding(out, CodingLibrary.chosen());
        out.flush();
        return active ? 0 : 1;
    }

    /** Prints which library codes the splits of coded caches, and how to get a faster one. */
    private static void printCoding(PrintWriter out, CodingLibrary library) {
        out.println("coding  " + library);
        if (!CodingLibrary.ISAL.available()) {
            out.println("  no ISA-L here, which is faster: " + CodingLibrary.ISAL.remedy());
        }
    }

    private static void print(PrintWriter out, Context context) {
        DeviceLimits limits = context.limits();
        out.printf(
                "%s  (%s library, node GUID %016x)%n",
                context.device().name(),
                context.library().name().toLowerCase(Locale.ROOT),
                context.device().guid());
        out.printf(
                "  queue pairs %d of depth %d, completion queue entries %d, largest registration %s%n",
                limits.maxQueuePairs(),
                limits.maxQueuePairRequests(),
                limits.maxCompletionEntries(),
                registration(limits.maxMemoryRegionBytes()));
        out.printf(
                "  reads and atomics in flight %d as initiator, %d as target; atomics %s%n",
                limits.maxReadAtomicInitiator(), limits.maxReadAtomicTarget(), limits.atomics() ? "yes" : "no");
        for (PortInfo port : context.ports()) {
            print(out, context, port);
        }
    }

    private static void print(PrintWriter out, Context context, PortInfo port) {
        out.printf(
                "  port %d  %s, %s, MTU %d, largest message %s, LID %d%n",
                port.number(),
                port.active() ? "ACTIVE" : "down",
                port.ethernet() ? "Ethernet" : "InfiniBand",
                port.mtuBytes(),
                Sizes.format(port.maxMessageBytes()),
                port.lid());
        List<String> gids = context.gids(port);
        for (int i = 0; i < gids.size(); i++) {
            if (i < MAX_GIDS || gids.get(i).endsWith(Context.PREFERRED)) {
                out.println("    " + gids.get(i));
            }
        }
        if (gids.size() > MAX_GIDS) {
            out.println("    " + gids.size() + " GIDs in all");
        }
        PortInfo used = context.activePort();
        if (used != null && used.number() == port.number()) {
            out.println("    connections: " + connections(context));
        }
    }

    /** Returns how connections leave the port in use, or the reason why they cannot. */
    private static String connections(Context context) {
        try {
            context.checkAddress();
            return context.options().settings();
        } catch (VerbsException e) {
            return "cannot be made: " + e.getMessage();
        }
    }

    private static String registration(long bytes) {
        return bytes < 0 || bytes == Long.MAX_VALUE ? "unlimited" : Sizes.format(bytes);
    }
}
