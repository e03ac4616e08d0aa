package io.farheap.manager.provider;

import io.farheap.manager.allocation.Menu;
import java.util.List;
import java.util.Map;
import java.util.function.Supplier;

/** A provider that starts no machine: operators start the servers, which register themselves. */
public final class RegisteredServers implements ServerProvider {

    public static final String NAME = "registered";

    /** Opens {@link RegisteredServers}. */
    public static final class Factory implements ServerProvider.Factory {

        @Override
        public String name() {
            return NAME;
        }

        @Override
        public ServerProvider open(
                Map<String, String> settings, Supplier<Menu> menu, String managers, Listener listener) {
            if (!settings.isEmpty()) {
                throw new IllegalArgumentException("provider " + NAME + " has no settings, and so no "
                        + settings.keySet().iterator().next());
            }
            return new RegisteredServers();
        }
    }

    @Override
    public boolean startsServers() {
        return false;
    }

    @Override
    public List<MachineOffer> menu() {
        return List.of();
    }

    @Override
    public Machine start(MachineOffer lot) {
        throw new IllegalArgumentException("provider " + NAME + " lets no machine of type " + lot.type());
    }

    /** No machine ever becomes available, so the listener is never notified. */
    @Override
    public void tellWhenAvailable(String type, boolean spot) {}

    @Override
    public void close() {}
}
