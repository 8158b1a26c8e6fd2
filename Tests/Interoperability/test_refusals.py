"""What cannot be done is refused with what happened, why, and what to try next."""


def test_a_second_plugd_on_the_same_state_directory(lan, plug, controller):
    host = lan.host()
    first = plug(host, "Lamp")
    person = controller(lan.host())
    person.browse().found("Lamp")
    second = plug(host, "Kettle", state=first.state)
    assert second.running.ended(within=5) == 1
    told = second.running.transcript()
    assert str(first.state) in told and "hint:" in told, told
    person.does("toggle", "Lamp")


def test_a_name_that_nobody_has_names_the_near_ones(lan, plug, controller):
    host = lan.host()
    plug(host, "Ceiling Light"), plug(host, "Kettle")
    person = controller(lan.host())
    person.browse().shows({"Ceiling Light", "Kettle"})
    done = person.finish("on", "Celing Light", within=20)
    assert done.status == 1, done
    assert "Ceiling Light" in done.errors and "Kettle" not in done.errors and not done.output, done


def test_wrong_usage(lan, controller):
    person = controller(lan.host())
    for words in (["dim", "Lamp", "loud"], ["dim", "Lamp", "130%"], ["fly"], ["browse", "--for", "soon"]):
        done = person.finish(*words)
        assert done.status == 64 and done.errors, f"{words}: {done}"


def test_pressing_a_plug_that_does_not_run(lan, programs, tmp_path):
    done = lan.host().finish(programs / "plugd", "press", "--state", tmp_path / "nobody")
    assert done.status == 1 and "hint:" in done.errors, done


def test_a_state_directory_that_cannot_be_used(lan, programs, tmp_path):
    (tmp_path / "file").write_text("not a folder")
    state = tmp_path / "file" / "state"
    done = lan.host().finish(programs / "plugd", "run", "--name", "Lamp", "--state", state, "--simulate", "lamp")
    assert done.status == 1 and str(state) in done.errors, done


def test_a_load_that_does_not_exist(lan, programs, tmp_path):
    done = lan.host().finish(
        programs / "plugd", "run", "--name", "Lamp", "--state", tmp_path / "state", "--simulate", "perpetuum mobile")
    assert done.status in (1, 64) and "perpetuum mobile" in done.errors, done
