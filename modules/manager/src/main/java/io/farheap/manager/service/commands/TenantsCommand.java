package io.farheap.manager.service.commands;

import io.farheap.command.ManagerOption;
import io.farheap.manager.CacheManager;
import io.farheap.manager.Tenant;
import io.farheap.manager.grpc.ManagerClient;
import java.io.PrintWriter;
import java.util.List;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Spec;

/** {@code farheap manager tenants}: lists the caches and bytes that tenants use, and their quotas. */
@Command(
        name = "tenants",
        mixinStandardHelpOptions = true,
        description = "Print the memory and the caches of each tenant that has caches or a quota, and its quota.")
final class TenantsCommand implements Callable<Integer> {

    @Mixin
    private ManagerOption managers;

    @Spec
    private CommandSpec spec;

    @Override
    public Integer call() {
        PrintWriter out = spec.commandLine().getOut();
        try (ManagerClient manager = managers.connect()) {
            List<Tenant> page = manager.tenants("", CacheManager.MAX_PAGE);
            if (page.isEmpty()) {
                out.println("no tenants: there is no cache, and no quota");
            }
            while (!page.isEmpty()) {
                page.forEach(tenant -> out.println(TenantCommand.line(tenant)));
                page = manager.tenants(page.getLast().name(), CacheManager.MAX_PAGE);
            }
        }
        out.flush();
        return 0;
    }
}
