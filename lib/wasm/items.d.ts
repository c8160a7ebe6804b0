// Made by make_items.mjs from the tables of the library.

/** Items by the names of their types. A field that only some protocols have may be undefined. */
export type Items = {
  character: {
    id: number;
    tick: number;
    x: number;
    y: number;
    vel_x: number;
    vel_y: number;
    angle: number;
    direction: number;
    jumped: number;
    hooked_player: number;
    hook_state: number;
    hook_tick: number;
    hook_x: number;
    hook_y: number;
    hook_dx: number;
    hook_dy: number;
    player_flags?: number;
    health: number;
    armor: number;
    ammo_count: number;
    weapon: number;
    emote: number;
    attack_tick: number;
    triggered_events?: number;
  };
  character_core: {
    id: number;
    tick: number;
    x: number;
    y: number;
    vel_x: number;
    vel_y: number;
    angle: number;
    direction: number;
    jumped: number;
    hooked_player: number;
    hook_state: number;
    hook_tick: number;
    hook_x: number;
    hook_y: number;
    hook_dx: number;
    hook_dy: number;
  };
  client_info: {
    id: number;
    name: string;
    clan: string;
    country: number;
    skin?: string;
    use_custom_color?: number;
    color_body?: number;
    color_feet?: number;
    local?: boolean;
    team?: number;
    skin_part_names?: string[];
    use_custom_colors?: boolean[];
    skin_part_colors?: number[];
  };
  ddnet_character: {
    id: number;
    flags: number;
    freeze_end: number;
    jumps: number;
    tele_checkpoint: number;
    strong_weak_id: number;
    jumped_total: number;
    ninja_activation_tick: number;
    freeze_start: number;
    target_x: number;
    target_y: number;
    tune_zone_override: number;
  };
  ddnet_laser: {
    id: number;
    to_x: number;
    to_y: number;
    from_x: number;
    from_y: number;
    start_tick: number;
    owner: number;
    type: number;
    switch_number: number;
    subtype: number;
    flags: number;
  };
  ddnet_pickup: {
    id: number;
    x: number;
    y: number;
    type: number;
    subtype: number;
    switch_number: number;
    flags: number;
  };
  ddnet_player: {
    id: number;
    flags: number;
    auth_level: number;
    finish_time_seconds: number;
    finish_time_millis: number;
  };
  ddnet_projectile: {
    id: number;
    x: number;
    y: number;
    vel_x: number;
    vel_y: number;
    type: number;
    start_tick: number;
    owner: number;
    switch_number: number;
    tune_zone: number;
    flags: number;
  };
  ddnet_spectator_info: {
    id: number;
    has_camera_info: boolean;
    zoom: number;
    deadzone: number;
    follow_factor: number;
    spectator_count: number;
  };
  ddrace_projectile: {
    id: number;
    x: number;
    y: number;
    angle: number;
    data: number;
    type: number;
    start_tick: number;
  };
  entity_ex: {
    id: number;
    switch_number: number;
    layer: number;
    entity_class: number;
  };
  event_birthday: {
    id: number;
    x: number;
    y: number;
  };
  event_common: {
    id: number;
    x: number;
    y: number;
  };
  event_damage: {
    id: number;
    x: number;
    y: number;
    client_id: number;
    angle: number;
    health_amount: number;
    armor_amount: number;
    self: boolean;
  };
  event_damage_ind: {
    id: number;
    x: number;
    y: number;
    angle: number;
  };
  event_death: {
    id: number;
    x: number;
    y: number;
    client_id: number;
  };
  event_explosion: {
    id: number;
    x: number;
    y: number;
  };
  event_finish: {
    id: number;
    x: number;
    y: number;
  };
  event_hammer_hit: {
    id: number;
    x: number;
    y: number;
  };
  event_map_sound_world: {
    id: number;
    x: number;
    y: number;
    sound_id: number;
  };
  event_sound_global: {
    id: number;
    x: number;
    y: number;
    sound_id: number;
  };
  event_sound_world: {
    id: number;
    x: number;
    y: number;
    sound_id: number;
  };
  event_spawn: {
    id: number;
    x: number;
    y: number;
  };
  flag: {
    id: number;
    x: number;
    y: number;
    team: number;
  };
  game_data: {
    id: number;
    teamscore_red?: number;
    teamscore_blue?: number;
    flag_carrier_red?: number;
    flag_carrier_blue?: number;
    game_start_tick?: number;
    game_state_flags?: number;
    game_state_end_tick?: number;
  };
  game_data_flag: {
    id: number;
    flag_carrier_red: number;
    flag_carrier_blue: number;
    flag_drop_tick_red: number;
    flag_drop_tick_blue: number;
  };
  game_data_race: {
    id: number;
    best_time: number;
    precision: number;
    race_flags: number;
  };
  game_data_team: {
    id: number;
    teamscore_red: number;
    teamscore_blue: number;
  };
  game_info: {
    id: number;
    game_flags: number;
    game_state_flags?: number;
    round_start_tick?: number;
    warmup_timer?: number;
    score_limit: number;
    time_limit: number;
    round_num?: number;
    round_current?: number;
    match_num?: number;
    match_current?: number;
  };
  game_info_ex: {
    id: number;
    flags: number;
    version: number;
    flags2: number;
    min_team_size: number;
    max_team_size: number;
  };
  laser: {
    id: number;
    x: number;
    y: number;
    from_x: number;
    from_y: number;
    start_tick: number;
  };
  map_best_time: {
    id: number;
    map_best_time_seconds: number;
    map_best_time_millis: number;
  };
  my_own_event: {
    id: number;
    test: number;
  };
  my_own_object: {
    id: number;
    test: number;
  };
  pickup: {
    id: number;
    x: number;
    y: number;
    type: number;
    subtype?: number;
  };
  player_info: {
    id: number;
    local?: number;
    client_id?: number;
    team?: number;
    score: number;
    latency: number;
    player_flags?: number;
  };
  player_info_race: {
    id: number;
    race_start_tick: number;
  };
  player_input: {
    id: number;
    direction: number;
    target_x: number;
    target_y: number;
    jump: number | boolean;
    fire: number;
    hook: number | boolean;
    player_flags: number;
    wanted_weapon: number;
    next_weapon: number;
    prev_weapon: number;
  };
  projectile: {
    id: number;
    x: number;
    y: number;
    vel_x: number;
    vel_y: number;
    type: number;
    start_tick: number;
  };
  spec_char: {
    id: number;
    x: number;
    y: number;
  };
  spectator_count: {
    id: number;
    num_spectators: number;
  };
  spectator_info: {
    id: number;
    spectator_id: number;
    x: number;
    y: number;
    spec_mode?: number;
  };
  switch_state: {
    id: number;
    highest_switch_number: number;
    status: number[];
    switch_numbers: number[];
    end_ticks: number[];
  };
  tune_params: {
    id: number;
    tune_params: number[];
  };
};
