package io.farheap.manager.service.commands;

import io.farheap.command.ManagerOption;
import io.farheap.command.Sizes;
import io.farheap.manager.Quota;
import io.farheap.manager.Tenant;
import io.farheap.manager.grpc.ManagerClient;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** {@code farheap manager tenant}: sets a tenant's quota. */
@Command(
        name = "tenant",
        mixinStandardHelpOptions = true,
        sortOptions = false,
        description = {
            "Set both limits of a tenant's quota: without its option, a limit is removed.",
            "A tenant that has more keeps it, and gets no more until it has less."
        })
final class TenantCommand implements Callable<Integer> {

    @Parameters(
            paramLabel = "NAME",
            description = "name of the tenant; '" + Tenant.DEFAULT + "' has the caches that name no tenant")
    private String name;

    @Option(
            names = "--memory",
            paramLabel = "SIZE",
            converter = Sizes.class,
            description = "most memory of all of its caches together, such as 64g (default: no limit)")
    private @Nullable Long memory;

    @Option(names = "--caches", paramLabel = "N", description = "most caches at a time (default: no limit)")
    private @Nullable Long caches;

    @Mixin
    private ManagerOption managers;

    @Spec
    private CommandSpec spec;

    @Override
    public Integer call() {
        Quota quota = new Quota(memory == null ? Quota.UNLIMITED : memory, caches == null ? Quota.UNLIMITED : caches);
        try (ManagerClient manager = managers.connect()) {
            spec.commandLine().getOut().println(line(manager.setQuota(name, quota)));
        }
        spec.commandLine().getOut().flush();
        return 0;
    }

    /** Returns a line such as {@code acme: 3 GiB of 64 GiB, 2 of 100 caches}. */
    static String line(Tenant tenant) {
        Quota quota = tenant.quota();
        return tenant.name() + ": " + Sizes.format(tenant.bytes())
                + (quota.bytes() == Quota.UNLIMITED ? "" : " of " + Sizes.format(quota.bytes())) + ", "
                + tenant.caches() + (quota.caches() == Quota.UNLIMITED ? "" : " of " + quota.caches())
                + (tenant.caches() == 1 && quota.caches() == Quota.UNLIMITED ? " cache" : " caches");
    }
}
