package io.farheap.cache.managed;

import io.farheap.cache.contract.CacheException;
import io.farheap.cache.objective.Tuning;
import io.farheap.control.ControlException;
import io.farheap.manager.CacheManager;
import io.farheap.manager.StoredModel;
import io.farheap.manager.grpc.ManagerClient;
import io.farheap.posix.Hardware;
import io.farheap.slo.ModelSubject;
import io.farheap.slo.PerformanceModel;
import io.farheap.verbs.Context;
import io.farheap.verbs.Devices;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Predicate;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/** The performance models that managers keep, for a cache that has an objective and brings none. */
public final class ManagedModels {

    private static final System.Logger LOG = System.getLogger(ManagedModels.class.getName());

    private static final String PUT = "'farheap model put FILE --manager HOST:PORT'";

    private ManagedModels() {}

    /** Of which load a model is to be. */
    public record ModelWorkload(int recordBytes, int readPercent) {

        static ModelWorkload of(ModelSubject subject) {
            return new ModelWorkload(subject.recordBytes(), subject.readPercent());
        }

        @Override
        public String toString() {
            return "records of " + recordBytes + " bytes, " + readPercent + "% reads";
        }
    }

    /**
     * Asks for them.
     *
     * @param device of the machine; empty for the first that serves
     * @param workload null: they are all of one
     * @return at least one
     * @throws CacheException where no manager answers, or there is none for this
     */
    public static List<PerformanceModel> ask(List<String> managers, String device, @Nullable ModelWorkload workload) {
        String opened;
        try (Context context = Devices.open(device)) {
            opened = Tuning.device(context);
        }
        List<PerformanceModel> kept;
        try (ManagerClient manager = ManagerClient.connectFirst(managers)) {
            kept = readable(all(manager));
        } catch (ControlException | IllegalArgumentException e) {
            throw new CacheException("no performance models for a cache with an objective: " + e.getMessage(), e);
        }
        return choose(kept, opened, Hardware.describe(), workload);
    }

    private static List<StoredModel> all(CacheManager manager) {
        List<StoredModel> all = new ArrayList<>();
        List<StoredModel> page = manager.models("");
        while (!page.isEmpty()) {
            all.addAll(page);
            page = manager.models(page.getLast().key());
        }
        return all;
    }

    /**
     * Those that are of this release's format: one that another release has put does not keep the others from use.
     *
     * @throws IllegalArgumentException where there are some, and none is
     */
    static List<PerformanceModel> readable(List<StoredModel> stored) {
        List<PerformanceModel> models = new ArrayList<>();
        IllegalArgumentException last = null;
        for (StoredModel model : stored) {
            try {
                models.add(model.model());
            } catch (IllegalArgumentException e) {
                LOG.log(System.Logger.Level.WARNING, "performance model " + model.key() + " is passed over", e);
                last = e;
            }
        }
        if (models.isEmpty() && last != null) {
            throw new IllegalArgumentException(
                    "none of the " + stored.size() + " that the manager keeps can be used: " + last.getMessage(), last);
        }
        return models;
    }

    /**
     * Those of a device and a load, and of this hardware where there are any. Not those of coded caches, which have no
     * manager.
     */
    static List<PerformanceModel> choose(
            List<PerformanceModel> kept, String device, String hardware, @Nullable ModelWorkload workload) {
        List<PerformanceModel> ofDevice = those(kept, subject -> Tuning.isOf(subject, device) && !subject.coded());
        if (ofDevice.isEmpty()) {
            throw new CacheException("the manager keeps no performance model of device " + device
                    + (kept.isEmpty() ? "" : ", but of " + devices(kept))
                    + "; measure one with 'farheap model' and put it there with " + PUT
                    + ", or give the cache one with CacheBuilder.model");
        }
        List<PerformanceModel> ofHardware =
                those(ofDevice, subject -> subject.hardware().equals(hardware));
        List<PerformanceModel> here = ofHardware.isEmpty() ? ofDevice : ofHardware;
        List<PerformanceModel> ofLoad = workload == null
                ? here
                : those(here, subject -> ModelWorkload.of(subject).equals(workload));
        if (ofLoad.isEmpty()) {
            throw new CacheException("the manager keeps no performance model of device " + device + " for " + workload
                    + ", but for " + workloads(here) + "; measure one with 'farheap model' and put it there with "
                    + PUT + ", or name another load with CacheBuilder.workload");
        }
        if (ofLoad.stream()
                        .map(model -> ModelWorkload.of(model.subject()))
                        .distinct()
                        .count()
                > 1) {
            throw new CacheException("the manager keeps performance models of device " + device + " for "
                    + workloads(ofLoad) + "; say with CacheBuilder.workload which load the cache has");
        }
        return ofLoad;
    }

    private static List<PerformanceModel> those(List<PerformanceModel> models, Predicate<ModelSubject> which) {
        return models.stream().filter(model -> which.test(model.subject())).toList();
    }

    private static String devices(List<PerformanceModel> models) {
        return models.stream().map(model -> model.subject().device()).distinct().collect(Collectors.joining("; of "));
    }

    private static String workloads(List<PerformanceModel> models) {
        return models.stream()
                .map(model -> ModelWorkload.of(model.subject()).toString())
                .distinct()
                .sorted()
                .collect(Collectors.joining("; for "));
    }
}
